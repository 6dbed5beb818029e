// Follows the decision of the reader. Without this script, the reader follows the link on the page.
const link = document.querySelector("#continue");

async function check() {
  try {
    const response = await fetch(link.dataset.status, { cache: "no-store" });
    // After other errors, such as 503, the code stays on the page.
    if (response.status === 404 || (response.ok && !(await response.json()).isPending)) {
      location.replace(link.href);
      return;
    }
  } catch {
    // The server cannot be reached at the moment.
  }
  setTimeout(check, 2000);
}

if (link) setTimeout(check, 2000);
