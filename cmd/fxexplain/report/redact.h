/* redact.h - removes private data from a text: directories, user and host names, addresses, secrets.
 *
 *     struct redact r = {0};
 *     redact_learn(&r, text);              // call for all texts first: some names appear plainly in only one of them
 *     redact_add(&r, &b, SLICE("File \"/home/ann/proj/m.py\", line 5"));   // File "<path1>/m.py", line 5
 *     redact_release(&r);
 *
 * The same thing always becomes the same placeholder:
 *     /home/ann/proj/m.py, C:\work\m.py        <path1>/m.py      (a directory becomes a number; the file name stays)
 *     -I/home/ann/env/include, "/my disk/m.py" <path1>/include, <path2>/m.py
 *     /tmp/torchinductor_ann/ab/cabc.py        <tmp1>/cabc.py
 *     /usr/lib/.../site-packages/torch/x.py    torch/x.py        (as srcloc_short_file has it)
 *     ann, where a path or URL shows that it is a user name          <user1>
 *     node7.corp.example.com, ssh://node7, this machine's name     <host1>   (except hosts that torch's messages link to)
 *     10.2.3.4, fe80::1                        <ip1>
 *     ann@example.com                          <mail1>
 *     ghp_..., hf_..., sk-..., eyJ..., AKIA..., TOKEN=..., Bearer ..., and runs of 32 or more mixed letters and digits   <secret1>
 * Anything else stays: redaction is best effort, so read the text before you send it.
 */
#ifndef FXEXPLAIN_REDACT_H
#define FXEXPLAIN_REDACT_H
#include "base/hash.h"
#include "base/buf.h"

struct redact {
	struct intern path, tmp, folder, user, host, ip, mail, secret;
};

void redact_learn(struct redact *r, struct slice text);
/* A name that must not appear: the user's, the machine's. Short and common ones (root, user, localhost) are ignored. */
void redact_user(struct redact *r, struct slice name);
void redact_host(struct redact *r, struct slice name);
void redact_add(struct redact *r, struct buf *b, struct slice text);
void redact_release(struct redact *r);

#endif
