/* GET /v1/quota: what a token may use of the server, and uses. */
#include "server/call/call.h"
#include "server/call/service.h"

static enum mechd_progress run_quota(struct mechd_call *c)
{
    const struct mechd_account *a = mechd_accounts_find(&c->service->host.accounts, c->who.name);
    if (a == NULL) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the account");
    }
    mechd_account_write(a, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_QUOTA = {.run = run_quota};
