/* distinfo.h - is a package installed in a folder? pip leaves NAME-VERSION.dist-info beside it, also outside site-packages
 * (pip install --target, PYTHONPATH).
 *
 *     srcloc_is_installed = distinfo_beside;     // before threads: srcloc_origin() then asks it
 *     distinfo_beside("/opt/site", "pydantic")   // true: /opt/site/pydantic-2.11.3.dist-info exists
 *
 * NAME is compared as pip does: in lower case, '-' and '.' as '_'. Each folder is listed once per process, at most DISTINFO_FOLDERS of
 * them; a folder that is not on this machine holds nothing. Safe in threads.
 */
#ifndef PT2_DISTINFO_H
#define PT2_DISTINFO_H
#include "base/base.h"

enum { DISTINFO_FOLDERS = 4096, DISTINFO_ENTRIES = 65536 };

bool distinfo_beside(struct slice folder, struct slice name);

#endif
