// Defines what browsers and newer versions of Node have, with Debian's package node-ws.
globalThis.WebSocket ??= require("/usr/share/nodejs/ws");
globalThis.crypto ??= require("node:crypto").webcrypto;
