/*
 * Packets of Arm SPE in words.
 */
#ifndef HWTDI_PACKET_TEXT_SPE_H
#define HWTDI_PACKET_TEXT_SPE_H

#include <hwtdecode/packet.h>

/* No words need more: all events at once. */
#define HWTDI_SPE_WORDS 768

void hwtdi_packet_text_spe(const struct hwtd_packet *packet,
    char text[HWTDI_SPE_WORDS]);

#endif /* HWTDI_PACKET_TEXT_SPE_H */
