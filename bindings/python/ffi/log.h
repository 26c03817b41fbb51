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
	char area[32];
	/* What does not fit is left out. */
	char message[472];
};

/* NULL: out of memory. */
struct hwtpy_log *hwtpy_log_create(void);
void hwtpy_log_destroy(struct hwtpy_log *log);
/* The sink; `arg` is the log. */
void hwtpy_log_take(void *arg, const struct hwtd_log_record *record);
/* The same, to be set in options. */
hwtd_log_fn hwtpy_log_take_ptr(void);
/* The oldest line.  0: there is none. */
int hwtpy_log_next(struct hwtpy_log *log, struct hwtpy_line *out);
/* Lines that there was no room for, since the last time that this was asked. */
unsigned long long hwtpy_log_lost(struct hwtpy_log *log);

#endif /* HWTPY_LOG_H */
