// The ten rules of policy_bench in other engines: an amount above a limit in EUR is held, a small
// one in a known currency passes. Each engine judges the same calls, must say the same, and is
// given everything it can prepare beforehand.
//
//   node bench.mjs        prints {"engines": [{"name", "version", "ns"} | {"name", "problem"}]}

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const limits = Array.from({ length: 9 }, (_, i) => 1001 + i);
const seconds = 0.2;

const calls = [
  { amount: 20, currency: "EUR", to: "somebody", expected: "allow" },
  { amount: 1005, currency: "EUR", to: "somebody", expected: "hold" },
  { amount: 70, currency: "EUR", to: "somebody", expected: "none" },
];

async function cel() {
  const { Environment } = await import("@marcbachmann/cel-js");
  const environment = new Environment().registerVariable("args", "map");
  const held = limits.map((n) =>
    environment.parse(`double(args.amount) > ${n}.0 && args.currency == 'EUR'`),
  );
  const small = environment.parse(
    "double(args.amount) <= 50.0 && args.currency in ['EUR', 'USD']",
  );
  return (call) => {
    const names = { args: call };
    if (held.some((condition) => condition(names))) return "hold";
    return small(names) ? "allow" : "none";
  };
}

async function casbin() {
  const { newEnforcer, newModelFromString, StringAdapter } = require("casbin");
  const model = newModelFromString(`
[request_definition]
r = args
[policy_definition]
p = low, high, currencies, eft
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = r.args.amount > float(p.low) && r.args.amount <= float(p.high) && within(r.args.currency, p.currencies)
`);
  const rows = limits.map((n) => `p, ${n}, 1e300, EUR, deny`);
  rows.push("p, -1e300, 50, EUR|USD, allow");
  const enforcer = await newEnforcer(model, new StringAdapter(rows.join("\n")));
  await enforcer.addFunction("float", (text) => Number(text));
  await enforcer.addFunction("within", (one, all) => all.split("|").includes(one));
  // It answers yes or no only: a hold is told from the rest by the row that decided.
  return (call) => {
    const [isAllowed, row] = enforcer.enforceExSync({ ...call });
    if (isAllowed) return "allow";
    return row.length > 0 ? "hold" : "none";
  };
}

async function cedar() {
  const engine = require("@cedar-policy/cedar-wasm/nodejs");
  const policies = {};
  for (const n of limits)
    policies[`above-${n}`] =
      `forbid(principal, action, resource) when { context.amount > ${n} && context.currency == "EUR" };`;
  policies.small =
    'permit(principal, action, resource) when { context.amount <= 50 && ["EUR", "USD"].contains(context.currency) };';
  const parsed = engine.preparsePolicySet("ten", { staticPolicies: policies });
  if (parsed.type !== "success") throw new Error("the policies do not parse");
  return (call) => {
    const answer = engine.statefulIsAuthorized({
      principal: { type: "Agent", id: "bot" },
      action: { type: "Action", id: "pay" },
      resource: { type: "Tool", id: "pay" },
      context: { amount: call.amount, currency: call.currency, to: call.to },
      preparsedPolicySetId: "ten",
      entities: [],
    });
    if (answer.type !== "success") throw new Error("the call was not judged");
    const { decision, diagnostics } = answer.response;
    if (decision === "allow") return "allow";
    return diagnostics.reason.length > 0 ? "hold" : "none";
  };
}

function check(judge) {
  for (const { expected, ...call } of calls) {
    const said = judge(call);
    if (said !== expected)
      throw new Error(`says ${said} instead of ${expected} for ${call.amount}`);
  }
}

/** Processor time for one judgement in ns: the middle of five runs after a warm-up. */
function measure(judge) {
  const { expected: _, ...call } = calls[0];
  const used = (since) => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) * 1000;
  };
  const run = (length) => {
    let count = 0;
    const start = process.cpuUsage();
    while (used(start) < length * 1e9) {
      for (let i = 0; i < 50; ++i) judge(call);
      count += 50;
    }
    return used(start) / count;
  };
  run(seconds);
  return Array.from({ length: 5 }, () => run(seconds)).sort((a, b) => a - b)[2];
}

function versionOf(name) {
  return require(`./node_modules/${name}/package.json`).version;
}

const engines = [];
for (const [name, make] of [
  ["@marcbachmann/cel-js", cel],
  ["casbin", casbin],
  ["@cedar-policy/cedar-wasm", cedar],
]) {
  try {
    const judge = await make();
    check(judge);
    engines.push({ name, version: versionOf(name), ns: measure(judge) });
  } catch (problem) {
    engines.push({ name, problem: String(problem.message).split("\n")[0] });
  }
}
console.log(JSON.stringify({ engines }));
