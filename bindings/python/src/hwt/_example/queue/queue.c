/*
 * The program of the example trace of Arm SPE: two threads that read, chase
 * pointers, count, and get into each other's way on one cache line.
 *
 * It is only compiled: bindings/python/example/model_spe.py makes up how a CPU would run it.
 */
#include <stddef.h>
#include <stdint.h>

#define N_VALUES 65536
#define N_NODES 65536
#define N_BUCKETS 16384

struct node {
	struct node *next;
	uint64_t key;
	uint64_t pad[6];
};

/* What each thread counts for itself, but on one line: false sharing. */
struct counters {
	uint64_t done[2];
};

uint64_t values[N_VALUES];
struct node nodes[N_NODES];
uint64_t buckets[N_BUCKETS];
struct counters counters __attribute__((aligned(64)));

__attribute__((noinline)) static uint64_t
sum_values(size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return (sum);
}

__attribute__((noinline)) static const struct node *
find_node(const struct node *node, uint64_t key)
{
	while (node != NULL && node->key != key)
		node = node->next;
	return (node);
}

__attribute__((noinline)) static void
fill_buckets(uint64_t seed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		buckets[(seed >> 40) % N_BUCKETS] += seed & 255;
	}
}

__attribute__((noinline)) static void
count(unsigned int thread)
{
	volatile uint64_t *done = &counters.done[thread];

	*done += 1;
}

__attribute__((used, noinline)) static uint64_t
serve(unsigned int thread, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += sum_values(i % N_VALUES);
		if (find_node(&nodes[i % N_NODES], sum) != NULL)
			fill_buckets(sum, 64);
		count(thread);
	}
	return (sum);
}

void
_start(void)
{
	serve(0, 1000);
	for (;;)
		continue;
}
