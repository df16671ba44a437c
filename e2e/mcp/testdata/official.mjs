// Holds recorded messages against the schemas of @modelcontextprotocol/core:
// node official.mjs MODULE MESSAGES.jsonl
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , module, file] = process.argv;
const schemas = await import(pathToFileURL(module + '/dist/internal.mjs'));
const requests = {
  initialize: 'InitializeRequestSchema', ping: 'PingRequestSchema', 'server/discover': 'DiscoverRequestSchema',
  'tools/list': 'ListToolsRequestSchema', 'tools/call': 'CallToolRequestSchema', 'resources/list': 'ListResourcesRequestSchema',
  'resources/read': 'ReadResourceRequestSchema', 'prompts/list': 'ListPromptsRequestSchema', 'prompts/get': 'GetPromptRequestSchema',
};
const results = {
  initialize: 'InitializeResultSchema', ping: 'EmptyResultSchema', 'server/discover': 'DiscoverResultSchema',
  'tools/list': 'ListToolsResultSchema', 'tools/call': 'CallToolResultSchema', 'resources/list': 'ListResourcesResultSchema',
  'resources/read': 'ReadResourceResultSchema', 'prompts/list': 'ListPromptsResultSchema', 'prompts/get': 'GetPromptResultSchema',
};
const notifications = {
  'notifications/progress': 'ProgressNotificationSchema', 'notifications/cancelled': 'CancelledNotificationSchema',
  'notifications/initialized': 'InitializedNotificationSchema',
};
let checked = 0;
const wrong = [];
function check(name, value, what) {
  const schema = schemas[name];
  if (!schema) { wrong.push(`no schema ${name} for ${what}`); return; }
  const r = schema.safeParse(value);
  checked++;
  if (!r.success) wrong.push(`${what}: ${name}: ${r.error.message}`);
}
for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
  const { from, method, message } = JSON.parse(line);
  check('JSONRPCMessageSchema', message, `${from} ${method}`);
  if (message.error || method === 'no/such') continue;
  if (message.id === undefined) check(notifications[method], message, `${from} ${method}`);
  else if (from === 'client') check(requests[method], message, `${from} ${method}`);
  else check(results[method], message.result, `${from} ${method}`);
}
if (wrong.length) { console.error(wrong.join('\n')); process.exit(1); }
console.log(JSON.stringify({ checked }));
