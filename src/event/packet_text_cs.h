/*
 * Packets of CoreSight in words.
 */
#ifndef HWTDI_PACKET_TEXT_CS_H
#define HWTDI_PACKET_TEXT_CS_H

#include <hwtdecode/packet.h>
#include <stdbool.h>

/* No words need more. */
#define HWTDI_PACKET_WORDS 128

void hwtdi_packet_text_cs(const struct hwtd_packet *packet,
    char text[HWTDI_PACKET_WORDS]);

#endif /* HWTDI_PACKET_TEXT_CS_H */
