/*
 * Capsules of Arrow's structs: what is in them is released once, by whoever took
 * it out, or with the capsule.
 *
 * Source: Apache Arrow, "The Arrow PyCapsule Interface".
 */
#include <Python.h>

#include <stdlib.h>

#include "arrow.h"

/* Names of capsules are compared, and have to live as long as they do. */
static const char schema_name[] = "arrow_schema";
static const char array_name[] = "arrow_array";
static const char stream_name[] = "arrow_array_stream";

struct ArrowSchema *
hwtpy_new_schema(void)
{
	return (calloc(1, sizeof(struct ArrowSchema)));
}

struct ArrowArray *
hwtpy_new_array(void)
{
	return (calloc(1, sizeof(struct ArrowArray)));
}

struct ArrowArrayStream *
hwtpy_new_stream(void)
{
	return (calloc(1, sizeof(struct ArrowArrayStream)));
}

void
hwtpy_free_schema(struct ArrowSchema *schema)
{
	if (schema != NULL && schema->release != NULL)
		schema->release(schema);
	free(schema);
}

void
hwtpy_free_array(struct ArrowArray *array)
{
	if (array != NULL && array->release != NULL)
		array->release(array);
	free(array);
}

void
hwtpy_free_stream(struct ArrowArrayStream *stream)
{
	if (stream != NULL && stream->release != NULL)
		stream->release(stream);
	free(stream);
}

/* Whatever somebody renamed it to: who took a struct left it without release. */
static void *
pointer_of(PyObject *capsule)
{
	return (PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
}

static void
destroy_schema(PyObject *capsule)
{
	hwtpy_free_schema(pointer_of(capsule));
}

static void
destroy_array(PyObject *capsule)
{
	hwtpy_free_array(pointer_of(capsule));
}

/* Closing waits for threads that decode: others may run meanwhile. */
static void
destroy_stream(PyObject *capsule)
{
	struct ArrowArrayStream *stream = pointer_of(capsule);
	PyThreadState *state = PyEval_SaveThread();

	hwtpy_free_stream(stream);
	PyEval_RestoreThread(state);
}

static void
describe(struct hwtpy_capsule_kind *out, const char *name,
    PyCapsule_Destructor destructor)
{
	out->name = (uintptr_t)name;
	out->destructor = (uintptr_t)destructor;
}

void
hwtpy_capsule_schema(struct hwtpy_capsule_kind *out)
{
	describe(out, schema_name, destroy_schema);
}

void
hwtpy_capsule_array(struct hwtpy_capsule_kind *out)
{
	describe(out, array_name, destroy_array);
}

void
hwtpy_capsule_stream(struct hwtpy_capsule_kind *out)
{
	describe(out, stream_name, destroy_stream);
}
