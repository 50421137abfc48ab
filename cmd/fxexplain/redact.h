/* redact.h - what is nobody else's business, out of a text: folders, user and host names, addresses, secrets.
 *
 *     struct redact r = {0};
 *     redact_learn(&r, text);              // every text first: names that only one of them gives away
 *     redact_add(&r, &b, SLICE("File \"/home/ann/proj/m.py\", line 5"));   // File "<path1>/m.py", line 5
 *     redact_release(&r);
 *
 * What becomes what; the same thing always becomes the same placeholder:
 *     /home/ann/proj/m.py, C:\work\m.py        <path1>/m.py      (a folder: its number; the file's name stays)
 *     -I/home/ann/env/include, "/my disk/m.py" <path1>/include, <path2>/m.py
 *     /tmp/torchinductor_ann/ab/cabc.py        <tmp1>/cabc.py
 *     /usr/lib/.../site-packages/torch/x.py    torch/x.py        (as srcloc_short_file has it)
 *     ann, where a path or an address names her as a user          <user1>
 *     node7.corp.example.com, ssh://node7, this machine's name     <host1>   (not those that torch's messages link to)
 *     10.2.3.4, fe80::1                        <ip1>
 *     ann@example.com                          <mail1>
 *     ghp_..., hf_..., sk-..., eyJ..., AKIA..., TOKEN=..., Bearer ..., and 32 and more mixed letters and digits   <secret1>
 * What looks like none of these stays: it is help, not proof, and the text should be read before it is sent.
 */
#ifndef FXEXPLAIN_REDACT_H
#define FXEXPLAIN_REDACT_H
#include "base/hash.h"
#include "base/buf.h"

struct redact {
	struct intern path, tmp, folder, user, host, ip, mail, secret;
};

void redact_learn(struct redact *r, struct slice text);
/* A name that must not appear: the user's, the machine's. Short and common ones (root, user, localhost) are passed over. */
void redact_user(struct redact *r, struct slice name);
void redact_host(struct redact *r, struct slice name);
void redact_add(struct redact *r, struct buf *b, struct slice text);
void redact_release(struct redact *r);

#endif
