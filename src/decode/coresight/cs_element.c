/*
 * Elements of CoreSight sources that wait to be taken.
 */
#include "decode/coresight/cs_element.h"

#include <string.h>

void
hwtdi_cs_queue_init(struct hwtdi_cs_queue *queue, struct hwtd_context *library)
{
	memset(queue, 0, sizeof(*queue));
	queue->library = library;
}

void
hwtdi_cs_queue_fini(struct hwtdi_cs_queue *queue)
{
	hwtdi_array_free(queue->library, queue->at, queue->cap,
	    sizeof(*queue->at));
	queue->at = NULL;
}

struct hwtdi_cs_element *
hwtdi_cs_queue_put(struct hwtdi_cs_queue *queue)
{
	struct hwtdi_cs_element *e;

	if (queue->first == queue->n)
		hwtdi_cs_queue_clear(queue);
	if (queue->n == queue->cap &&
	    hwtdi_array_grow(queue->library, &queue->at, &queue->cap,
		queue->n + 1, sizeof(*queue->at), NULL) != HWTD_OK) {
		queue->failed = true;
		return (NULL);
	}
	e = &queue->at[queue->n++];
	memset(e, 0, sizeof(*e));
	return (e);
}
