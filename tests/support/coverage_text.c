/*
 * All that a coverage tells, as text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/coverage_text.h"

static const char *
or_none(const char *text)
{
	return (text != NULL ? text : "(none)");
}

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
put_share(FILE *f, const struct hwtd_coverage_share *s)
{
	need(s->hit <= s->total);
	(void)fprintf(f, " %" PRIu64 "/%" PRIu64, s->hit, s->total);
}

static void
put_info(FILE *f, struct hwtd_coverage *c)
{
	struct hwtd_coverage_info i = { .size = sizeof(i) };

	need(hwtd_coverage_info(c, &i, NULL) == HWTD_OK);
	put_share(f, &i.lines);
	put_share(f, &i.functions);
	put_share(f, &i.branches);
	put_share(f, &i.bare_functions);
	put_share(f, &i.bare_branches);
	put_share(f, &i.edges);
	(void)fprintf(f,
	    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 "; %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 "\n",
	    i.n_images, i.n_files, i.n_functions, i.n_lines, i.n_branches,
	    i.n_edges, i.traces, i.insns, i.bytes, i.gap_bytes, i.lost_insns);
	(void)fprintf(f,
	    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	    i.code_bytes, i.bare_bytes, i.images_missing,
	    i.images_without_lines, i.images_damaged);
	for (size_t k = 0; k < HWTD_GAP_REASONS; k++)
		(void)fprintf(f, " %" PRIu64 ":%" PRIu64, i.gaps[k],
		    i.gap_bytes_by_reason[k]);
}

char *
coverage_text(struct hwtd_coverage *coverage)
{
	struct hwtd_coverage_image im;
	struct hwtd_coverage_file fi;
	struct hwtd_coverage_function fn;
	struct hwtd_coverage_line li;
	struct hwtd_coverage_branch br;
	struct hwtd_coverage_edge ed;
	char *text = NULL;
	size_t bytes, n;
	FILE *f = open_memstream(&text, &bytes);

	need(f != NULL);
	put_info(f, coverage);
	for (uint64_t i = 0; hwtd_coverage_images(coverage, i, &im, sizeof(im),
				 1, &n, NULL) == HWTD_OK;
	     i++) {
		(void)fprintf(f, "\nimage %s %#x %s", im.name, im.flags,
		    or_none(im.fault));
		for (uint32_t k = 0; k < im.n_build_id; k++)
			(void)fprintf(f, " %02x", im.build_id[k]);
		put_share(f, &im.lines);
		put_share(f, &im.functions);
		put_share(f, &im.branches);
		put_share(f, &im.edges);
		(void)fprintf(f, " %" PRIu64 " %" PRIu64, im.code_bytes,
		    im.bare_bytes);
	}
	for (uint64_t i = 0; hwtd_coverage_files(coverage, i, &fi, sizeof(fi),
				 1, &n, NULL) == HWTD_OK;
	     i++)
		(void)fprintf(f,
		    "\nfile %s %" PRIu64 "+%" PRIu64 " %" PRIu64 "+%" PRIu64
		    " %" PRIu64 "+%" PRIu64 " %" PRIu64 " %" PRIu64
		    " %" PRIu64,
		    fi.path, fi.first_line, fi.n_lines, fi.first_function,
		    fi.n_functions, fi.first_branch, fi.n_branches,
		    fi.n_lines_hit, fi.n_functions_hit, fi.n_ways_hit);
	for (uint64_t i = 0; hwtd_coverage_functions(coverage, i, &fn,
				 sizeof(fn), 1, &n, NULL) == HWTD_OK;
	     i++)
		(void)fprintf(f,
		    "\nfunction %s %s %" PRIu64 " %u:%u %u %#x %" PRIx64,
		    or_none(fn.name), or_none(fn.linkage_name), fn.count,
		    fn.file, fn.line, fn.image, fn.flags, fn.file_off);
	for (uint64_t i = 0; hwtd_coverage_lines(coverage, i, &li, sizeof(li),
				 1, &n, NULL) == HWTD_OK;
	     i++)
		(void)fprintf(f, "\nline %u:%u %" PRIu64, li.file, li.line,
		    li.count);
	for (uint64_t i = 0; hwtd_coverage_branches(coverage, i, &br,
				 sizeof(br), 1, &n, NULL) == HWTD_OK;
	     i++)
		(void)fprintf(f,
		    "\nbranch %u:%u %u %" PRIx64 " %" PRIu64 "/%" PRIu64
		    " %#x",
		    br.file, br.line, br.image, br.file_off, br.taken,
		    br.not_taken, br.flags);
	for (uint64_t i = 0; hwtd_coverage_edges(coverage, i, &ed, sizeof(ed),
				 1, &n, NULL) == HWTD_OK;
	     i++)
		(void)fprintf(f,
		    "\nedge %u+%" PRIx64 " %u+%" PRIx64 " %" PRIu64 " %u %#x",
		    ed.from_image, ed.from, ed.to_image, ed.to, ed.count,
		    ed.branch, ed.flags);
	need(fclose(f) == 0 && text != NULL);
	return (text);
}
