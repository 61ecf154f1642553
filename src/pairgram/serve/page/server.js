"use strict";
/* Talking to the server: the token, and what to do when nobody answers. */

const MOST_TEXT = 20000;

class GoneError extends Error {}

class RefusedError extends Error {
  constructor(status, line) {
    super(line);
    this.status = status;
  }
}

class Server {
  /** @param calls {onGone(), onBack(), askToken() -> Promise<string|null>} */
  constructor(calls) {
    this.calls = calls;
    this.gone = false;
  }

  get(path, signal) {
    return this.send("GET", path, undefined, signal);
  }

  post(path, body, signal) {
    return this.send("POST", path, body, signal);
  }

  async send(method, path, body, signal) {
    const answer = await this.fetch(method, path, body, signal);
    return answer.json();
  }

  /** An answer that is fine; anything else is thrown. */
  async fetch(method, path, body, signal, again = true) {
    const token = sessionStorage.getItem("pairgram:token");
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    if (body !== undefined) headers["content-type"] = "application/json";
    let answer;
    try {
      answer = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.lost();
      throw new GoneError("The server does not answer.");
    }
    if (answer.ok) return answer;
    const said = await answer.json().catch(() => ({}));
    if (answer.status === 401 && again) {
      const given = await this.calls.askToken();
      if (given) {
        sessionStorage.setItem("pairgram:token", given);
        return this.fetch(method, path, body, signal, false);
      }
    }
    if (answer.status === 401) sessionStorage.removeItem("pairgram:token");
    throw new RefusedError(answer.status, said.error || `The server answered ${answer.status}.`);
  }

  /** Ask every other second until somebody answers. */
  lost() {
    if (this.gone) return;
    this.gone = true;
    this.calls.onGone();
    const knock = async () => {
      try {
        await fetch("/health", { cache: "no-store" });
        this.gone = false;
        this.calls.onBack();
      } catch {
        setTimeout(knock, 1500);
      }
    };
    setTimeout(knock, 1500);
  }
}
