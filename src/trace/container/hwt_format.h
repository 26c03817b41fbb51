/*
 * The layout of .hwt files, as hwtdecode-trace(5) describes it.
 */
#ifndef HWTDI_HWT_FORMAT_H
#define HWTDI_HWT_FORMAT_H

#include <stdint.h>

/* The file header. */
#define HWTDI_HWT_MAGIC "\x8bHWT\r\n\x1a\n"
#define HWTDI_HWT_MAGIC_SIZE 8
#define HWTDI_HWT_FILE_HEADER_SIZE 32
#define HWTDI_HWT_MAJOR 1
#define HWTDI_HWT_MINOR 0

/* A chunk. */
#define HWTDI_HWT_CHUNK_MAGIC                                                 \
	"\x8b"                                                                \
	"hwc"
#define HWTDI_HWT_CHUNK_MAGIC_SIZE 4
#define HWTDI_HWT_HEADER_SIZE 64
#define HWTDI_HWT_RAW_MAX ((uint32_t)16 << 20)
/* What zstd may make of it when nothing can be compressed. */
#define HWTDI_HWT_STORED_MAX ((uint32_t)16842752)
#define HWTDI_HWT_NO_ID 0xffffffffu

enum hwtdi_hwt_type {
	HWTDI_HWT_META = 1,
	HWTDI_HWT_STREAM = 2,
	HWTDI_HWT_DATA = 3,
	HWTDI_HWT_RECORDS = 4,
	HWTDI_HWT_IMAGE = 5,
	HWTDI_HWT_IMAGE_DATA = 6,
	HWTDI_HWT_INDEX = 7,
	HWTDI_HWT_END = 8,
	HWTDI_HWT_DAMAGE = 9
};

/* Flags of a chunk. */
#define HWTDI_HWT_ZSTD 0x0001
#define HWTDI_HWT_CRITICAL 0x0002

/* `detail` of a DATA chunk: an extent starts, and why (8 bits). */
#define HWTDI_HWT_EXTENT 0x0001
#define HWTDI_HWT_WHY_SHIFT 8

/* Tags of fields. */
enum hwtdi_hwt_meta_tag {
	HWTDI_HWT_META_ORIGIN = 1,
	HWTDI_HWT_META_ABI = 2,
	HWTDI_HWT_META_CPU_MODEL = 3,
	HWTDI_HWT_META_CLOCK = 4,
	HWTDI_HWT_META_WRITER = 5,
	HWTDI_HWT_META_RELEASE = 6,
	HWTDI_HWT_META_CAPTURE = 7
};

enum hwtdi_hwt_stream_tag {
	HWTDI_HWT_STREAM_DESC = 1,
	HWTDI_HWT_STREAM_NAME = 2,
	HWTDI_HWT_STREAM_CLOCK = 3,
	HWTDI_HWT_STREAM_PT = 4,
	HWTDI_HWT_STREAM_CORESIGHT = 5,
	HWTDI_HWT_STREAM_SINK = 6,
	HWTDI_HWT_STREAM_SPE = 7
};

enum hwtdi_hwt_image_tag {
	HWTDI_HWT_IMAGE_DESC = 1,
	HWTDI_HWT_IMAGE_PATH = 2,
	HWTDI_HWT_IMAGE_BUILD_ID = 3,
	HWTDI_HWT_IMAGE_SAME_BYTES = 4,
	HWTDI_HWT_IMAGE_SAME_FILE = 5
};

/* `flags` of an image. */
#define HWTDI_HWT_IMAGE_MAPPED 0x0001
#define HWTDI_HWT_IMAGE_BYTES 0x0002
#define HWTDI_HWT_IMAGE_FILE 0x0004
#define HWTDI_HWT_IMAGE_HASH 0x0008
#define HWTDI_HWT_IMAGE_PART 0x0010
#define HWTDI_HWT_IMAGE_LINKED 0x0020

#define HWTDI_HWT_FIELD_SIZE 8
#define HWTDI_HWT_STREAM_DESC_SIZE 24
#define HWTDI_HWT_CLOCK_SIZE 48
/* Without what tells of counts that wrap. */
#define HWTDI_HWT_CLOCK_LEAST 32
#define HWTDI_HWT_PT_SIZE 24
#define HWTDI_HWT_PT_FILTER_SIZE 24
#define HWTDI_HWT_CORESIGHT_SIZE 120
#define HWTDI_HWT_SINK_SIZE 8
#define HWTDI_HWT_SPE_SIZE 24
#define HWTDI_HWT_IMAGE_DESC_SIZE 40
#define HWTDI_HWT_RECORD_SIZE 136
/* Of older files: without the virtual machine, and without the build-id. */
#define HWTDI_HWT_RECORD_WITH_ID 128
#define HWTDI_HWT_RECORD_LEAST 96
#define HWTDI_HWT_DAMAGE_SIZE 40
#define HWTDI_HWT_INDEX_ENTRY_SIZE 40
#define HWTDI_HWT_END_SIZE 32

/* Flag of a record in the file: it has a name, which may be empty. */
#define HWTDI_HWT_RECORD_NAMED 0x0001

/* Flag of a damage in the file: others beside are not listed. */
#define HWTDI_HWT_DAMAGE_MORE 0x0001

#endif /* HWTDI_HWT_FORMAT_H */
