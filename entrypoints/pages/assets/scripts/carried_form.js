// The form of a page that carries a message to another site: submits it. Without this script, the button does.
"use strict";

document.querySelector("form[data-submits-itself]")?.submit();
