/*
 * How a case was recorded: the `params` of its case.json.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_input.h"

/* A number, also as text; what is not there or negative is 0. */
static uint64_t
number(struct json_object *in, const char *key)
{
	struct json_object *value;
	int64_t n;

	if (!json_object_object_get_ex(in, key, &value))
		return (0);
	if (json_object_is_type(value, json_type_string))
		return (strtoull(json_object_get_string(value), NULL, 0));
	n = json_object_get_int64(value);
	return (n > 0 ? (uint64_t)n : 0);
}

static void
read_filter(struct json_object *params, struct hwtd_pt_config *out)
{
	struct json_object *ends;

	if (!json_object_object_get_ex(params, "ip_filter", &ends) ||
	    !json_object_is_type(ends, json_type_array) ||
	    json_object_array_length(ends) != 2)
		return;
	out->filters[0].mode = HWTD_PT_FILTER_TRACE;
	out->filters[0].start = strtoull(
	    json_object_get_string(json_object_array_get_idx(ends, 0)), NULL,
	    0);
	out->filters[0].end = strtoull(
	    json_object_get_string(json_object_array_get_idx(ends, 1)), NULL,
	    0);
}

void
bench_case_config(const char *folder, struct hwtd_pt_config *out)
{
	char path[BENCH_PATH];
	struct json_object *top, *params, *cpu;
	struct bench_bytes text;

	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	(void)snprintf(path, sizeof(path), "%s/case.json", folder);
	if (!bench_read(path, &text))
		return;
	free(text.at);
	top = json_object_from_file(path);
	if (top == NULL)
		bench_die("%s: %s", path, json_util_get_last_err());
	if (json_object_object_get_ex(top, "params", &params)) {
		out->mtc_freq = (uint8_t)number(params, "mtc_freq");
		out->nom_freq = (uint8_t)number(params, "nom_freq");
		out->cpuid_15h_eax = (uint32_t)number(params,
		    "cpuid_0x15_eax");
		out->cpuid_15h_ebx = (uint32_t)number(params,
		    "cpuid_0x15_ebx");
		if (json_object_object_get_ex(params, "cpu", &cpu)) {
			out->cpu_family = (uint16_t)number(cpu, "family");
			out->cpu_model = (uint8_t)number(cpu, "model");
			out->cpu_stepping = (uint8_t)number(cpu, "stepping");
		}
		read_filter(params, out);
	}
	(void)json_object_put(top);
}
