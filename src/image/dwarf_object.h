/*
 * DWARF of objects (ET_REL), as kernel modules are: linked to where the code is in
 * its file, which stands for its address.
 */
#ifndef HWTDI_DWARF_OBJECT_H
#define HWTDI_DWARF_OBJECT_H

#include "image/dwarf_file.h"

/*
 * Change the sections of `file`, which have to be readable, by its relocations;
 * `code` is the file of the code, or `file` itself.  Code that is in no section
 * of `code` gets the last address there is.
 *
 * HWTD_E_NOMEM; a relocation that is not known changes nothing.
 */
int hwtdi_dwarf_object_link(struct hwtdi_dwarf_file *file,
    const struct hwtdi_elf_tables *code, struct hwtd_error *err);

#endif /* HWTDI_DWARF_OBJECT_H */
