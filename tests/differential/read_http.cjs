// The HTTP server of Node as a second reader: for each line, the bytes of a connection, the requests that it sees there.
// Their bodies are null when they are not whole.
"use strict";
const http = require("node:http");
const readline = require("node:readline");
const { Duplex } = require("node:stream");

const text = (bytes) => Buffer.concat(bytes).toString("latin1");

class Wire extends Duplex {
  _read() {}
  _write(chunk, encoding, done) { done(); }
}

const server = http.createServer({ connectionsCheckingInterval: 2 ** 30, keepAliveTimeout: 0, insecureHTTPParser: false });
// It ends with the others; until then what came before is passed on.
server.on("clientError", () => {});
for (const name of ["request", "checkContinue", "checkExpectation"]) {
  server.on(name, (request, response) => {
    const seen = { method: request.method, target: request.url, headers: request.rawHeaders, body: null };
    request.socket.seen.push(seen);
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("error", () => {});
    request.on("end", () => {
      seen.body = text(parts);
      response.end();
    });
  });
}

// Everything happens in this process, so after some rounds of its event loop nothing more comes.
const ROUNDS = 10;

function answer(wire, rounds) {
  if (rounds > 0) return setImmediate(answer, wire, rounds - 1);
  process.stdout.write(JSON.stringify(wire.seen) + "\n");
  wire.destroy();
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const wire = new Wire();
  wire.seen = [];
  wire.on("error", () => {});
  server.emit("connection", wire);
  wire.push(Buffer.from(JSON.parse(line), "latin1"));
  answer(wire, ROUNDS);
});
