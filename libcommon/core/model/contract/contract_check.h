/* contract_check.h - for the readers of contracts only: are all indices in range? */
#ifndef PT2_CONTRACT_CHECK_H
#define PT2_CONTRACT_CHECK_H
#include "model/contract/contract.h"

#define CONTRACT_MAX_NOTES 200

int contract_validate(const struct contract *c, struct err *err);

#endif
