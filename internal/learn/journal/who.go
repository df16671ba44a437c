package journal

import (
	"cmp"
	"strings"
)

// agents are the variables with which coding agents mark their shells; without a name, the value
// is the name. PAWL_ACTOR=agent:NAME marks any other.
var agents = []struct{ variable, name string }{
	{"CLAUDECODE", "claude-code"},
	{"CURSOR_AGENT", "cursor"},
	{"CODEX_SANDBOX", "codex"},
	{"CODEX_SANDBOX_NETWORK_DISABLED", "codex"},
	{"CODEX_THREAD_ID", "codex"},
	{"GEMINI_CLI", "gemini-cli"},
	{"OPENCODE", "opencode"},
	{"AUGMENT_AGENT", "augment"},
	{"CLINE_ACTIVE", "cline"},
	{"GOOSE_TERMINAL", "goose"},
	{"AMP_CURRENT_THREAD_ID", "amp"},
	{"COPILOT_CLI", "copilot"},
	{"COPILOT_AGENT_SESSION_ID", "copilot"},
	{"AIDER_VERSION", "aider"},
	{"AI_AGENT", ""},
	{"AGENT", ""},
}

// Who returns who runs a command, from its environment. ciActor is the account that started the CI job;
// empty outside CI, or if it is not known. Who calls gitUser only for a person. No variable makes a
// person: it is what remains.
func Who(getenv func(string) string, ciActor string, gitUser func() string) Actor {
	if name, ok := strings.CutPrefix(getenv("PAWL_ACTOR"), "agent:"); ok {
		return Actor{Agent, actorName(cmp.Or(name, "unknown"))}
	}
	for _, a := range agents {
		switch v := getenv(a.variable); v {
		case "", "0", "false":
		case "1", "true":
			return Actor{Agent, cmp.Or(a.name, "unknown")}
		default:
			return Actor{Agent, actorName(cmp.Or(a.name, v))}
		}
	}
	if ciActor != "" {
		return Actor{CI, actorName(ciActor)}
	}
	if ci := getenv("CI"); ci != "" && ci != "0" && ci != "false" {
		return Actor{Kind: CI}
	}
	return Actor{Person, actorName(gitUser())}
}

// actorName returns a name on one line, short enough for a list.
func actorName(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == ' ' || r == 0x7f }), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80])
	}
	return s
}
