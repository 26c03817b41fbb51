/*
 * Log lines of the library, kept until Python asks for them: a sink that calls
 * Python could not be called by threads of the library while Python ends.
 */
#ifndef HWTPY_LOG_H
#define HWTPY_LOG_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

struct hwtpy_log;

/* One line. */
struct hwtpy_line {
	/* An hwtd_log_level. */
	int level;
	/* What does not fit is left out. */
	char area[32];
	char message[476];
};

/* NULL: out of memory. */
struct hwtpy_log *hwtpy_log_create(void);
/* Only when no context has it any more. */
void hwtpy_log_destroy(struct hwtpy_log *log);
/* The sink; its `arg` is a log. */
hwtd_log_fn hwtpy_log_sink(void);
/* Lines above this hwtd_log_level are dropped from now on. */
void hwtpy_log_set_level(struct hwtpy_log *log, int level);
/* Whether there is a line, or one was lost; takes no lock. */
int hwtpy_log_waits(const struct hwtpy_log *log);
/* The oldest line.  0: there is none. */
int hwtpy_log_next(struct hwtpy_log *log, struct hwtpy_line *out);
/* Lines that there was no room for, since the last time that this was asked. */
unsigned long long hwtpy_log_lost(struct hwtpy_log *log);
/* In the child of a fork(): a thread that is gone may have had the lock. */
void hwtpy_log_forked(struct hwtpy_log *log);

#endif /* HWTPY_LOG_H */
