// Development only: a session for anybody, by an identity token of the server's own issuer.
import { byID } from "./dom.js";
import { send } from "./request.js";

const signIn = `mutation SignIn($input: SignInWithAppleInput!) {
  signInWithApple(input: $input) { accessToken }
}`;

export async function signInDialog({ store, onSignedIn }) {
  const settings = await fetch("/explorer/settings").then((response) => response.json()).catch(() => ({}));
  byID("explain").parentElement.hidden = !settings.isDevelopment;
  if (!settings.hasDevelopmentSignIn) return;
  const dialog = byID("sign-in-dialog");
  byID("sign-in").hidden = false;
  byID("sign-in").onclick = () => {
    byID("sign-in-subject").value = store.get("subject", "reader");
    byID("sign-in-audience").value = store.get("audience", "dev.bookplate.reader");
    byID("sign-in-problem").textContent = "";
    dialog.showModal();
  };
  byID("sign-in-form").onsubmit = async (event) => {
    if (event.submitter?.value === "cancel") return;
    event.preventDefault();
    const [subject, audience] = [byID("sign-in-subject").value.trim(), byID("sign-in-audience").value.trim()];
    try {
      const response = await fetch("/development/identity-token", {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ subject, audience }),
      });
      if (!response.ok) throw new Error(await response.text());
      const { identityToken } = await response.json();
      const { json } = await send({ query: signIn, variables: { input: { identityToken, displayName: subject } } });
      const token = json?.data?.signInWithApple?.accessToken;
      if (!token) throw new Error(json?.errors?.[0]?.message ?? "The server gave no session.");
      store.set("subject", subject);
      store.set("audience", audience);
      store.token = token;
      dialog.close();
      onSignedIn(token);
    } catch (error) {
      byID("sign-in-problem").textContent = `${error.message} Is there a tenant with this audience?`;
    }
  };
}
