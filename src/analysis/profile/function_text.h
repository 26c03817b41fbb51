/*
 * What functions without a name are called: where they are.
 */
#ifndef HWTDI_FUNCTION_TEXT_H
#define HWTDI_FUNCTION_TEXT_H

#include <hwtdecode/profile.h>

/* Room for any of these texts. */
#define HWTDI_FUNCTION_TEXT 512

/*
 * "prog+0x1130", an address, "[unknown in prog]" or "[unknown]", as far as the
 * place is known.  Names of images that are very long are cut off.
 */
void hwtdi_function_text(const struct hwtd_profile_function *function,
    const struct hwtd_profile_image *image, char text[HWTDI_FUNCTION_TEXT]);

#endif /* HWTDI_FUNCTION_TEXT_H */
