package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// shapes are the schemas of messages.
type shapes struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	byName   map[string]*jsonschema.Schema
}

var messages = func() *shapes {
	return &shapes{compiler: jsonschema.NewCompiler(), byName: map[string]*jsonschema.Schema{}}
}()

// check holds a message against a shape of testdata/messages.schema.json.
func (s *shapes) check(name string, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	schema := s.byName[name]
	if schema == nil {
		var err error
		schema, err = s.compiler.Compile("testdata/messages.schema.json#/$defs/" + strings.ReplaceAll(name, "/", "~1"))
		if err != nil {
			return err
		}
		s.byName[name] = schema
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(line)))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}

// client speaks with one server.
type client struct {
	t     *testing.T
	old   bool // 2025-11-25, with a handshake
	cmd   *exec.Cmd
	in    io.WriteCloser
	said  *strings.Builder
	mu    sync.Mutex
	n     int
	asked map[int]string // methods by id
	wait  map[int]chan message
	notes []message // notifications
	tools map[string]*jsonschema.Schema
	log   *os.File // every message, for official.mjs
}

// message is what a server sends.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
	at   time.Time
	line string
}

// dial starts a server in a folder.
func dial(t *testing.T, dir string, environ ...string) *client {
	t.Helper()
	c := &client{t: t, asked: map[int]string{}, wait: map[int]chan message{}, said: &strings.Builder{}, tools: map[string]*jsonschema.Schema{}}
	c.cmd = exec.CommandContext(t.Context(), binary, "mcp")
	c.cmd.Dir = dir
	c.cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "PAWL_LOCK_DIR="+t.TempDir()), environ...)
	c.cmd.Stderr = c.said
	var err error
	c.in, err = c.cmd.StdinPipe()
	must(t, err)
	out, err := c.cmd.StdoutPipe()
	must(t, err)
	c.log, err = os.Create(filepath.Join(t.TempDir(), "messages.jsonl"))
	must(t, err)
	must(t, c.cmd.Start())
	done := make(chan struct{})
	go func() { defer close(done); c.listen(out) }()
	t.Cleanup(func() {
		c.in.Close()
		<-done
		if err := c.cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("the server ended with %v: %s", err, c.said)
		}
		c.log.Close()
	})
	return c
}

// listen takes what the server sends, and holds it against its shape.
func (c *client) listen(r io.Reader) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Errorf("the server says what is no message: %.300s", line)
			continue
		}
		m.at, m.line = time.Now(), string(line)
		c.received(m, line)
	}
}

func (c *client) received(m message, line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Method != "" {
		c.shape("notification", line)
		c.shape(m.Method, line)
		c.record("server", m.Method, line)
		c.notes = append(c.notes, m)
		return
	}
	c.shape("response", line)
	method := c.asked[m.ID]
	c.record("server", method, line)
	if m.Error == nil {
		name := method + ".result"
		if c.old && method != "initialize" {
			name += ".2025"
		}
		c.shape(name, m.Result)
	}
	if ch := c.wait[m.ID]; ch != nil {
		ch <- m
	}
}

func (c *client) shape(name string, line []byte) {
	if err := messages.check(name, line); err != nil {
		c.t.Errorf("%s: %v\n%.600s", name, err, line)
	}
}

func (c *client) record(from, method string, line []byte) {
	text, _ := json.Marshal(map[string]any{"from": from, "method": method, "old": c.old, "message": json.RawMessage(line)})
	_, _ = c.log.Write(append(text, '\n'))
}

// begin sends a request and says its id.
func (c *client) begin(method string, params map[string]any) int {
	c.t.Helper()
	c.mu.Lock()
	c.n++
	id := c.n
	c.asked[id], c.wait[id] = method, make(chan message, 1)
	c.mu.Unlock()
	if params == nil {
		params = map[string]any{}
	}
	meta := map[string]any{"progressToken": fmt.Sprintf("p%d", id)}
	if !c.old {
		meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		meta["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": "scripted", "version": "1"}
	}
	params["_meta"] = meta
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}, "request", method)
	return id
}

func (c *client) send(m map[string]any, shape, method string) {
	c.t.Helper()
	line, err := json.Marshal(m)
	must(c.t, err)
	if c.old && shape == "request" {
		shape += ".2025"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shape(shape, line)
	c.record("client", method, line)
	_, err = c.in.Write(append(line, '\n'))
	must(c.t, err)
}

// answer waits for the response to a request.
func (c *client) answer(id int) message {
	c.t.Helper()
	c.mu.Lock()
	ch := c.wait[id]
	c.mu.Unlock()
	return await.ReceiveWithin(c.t, 10*time.Minute, "an answer to "+c.asked[id], ch)
}

func (c *client) ask(method string, params map[string]any) message {
	c.t.Helper()
	return c.answer(c.begin(method, params))
}

// answered is what a tool said.
type answered struct {
	Trusted bool
	Why     string
	Exit    int
	Means   string
	Refused string
	Limit   string
	Cut     string
	Seconds float64
	Result  map[string]any
	Said    string `json:"untrusted_said"`
	Budget  *struct {
		Left  float64 `json:"device_seconds_left"`
		Spent float64 `json:"device_seconds_spent"`
	}
	line string
}

// call calls a tool; what it says is held against the schema that the tool gives itself.
func (c *client) call(tool string, args map[string]any) answered {
	c.t.Helper()
	return c.told(tool, c.answer(c.beginCall(tool, args)))
}

func (c *client) beginCall(tool string, args map[string]any) int {
	c.t.Helper()
	params := map[string]any{"name": tool}
	if args != nil {
		params["arguments"] = args
	}
	return c.begin("tools/call", params)
}

func (c *client) told(tool string, m message) answered {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("%s: %d %s", tool, m.Error.Code, m.Error.Message)
	}
	var res struct {
		StructuredContent json.RawMessage
	}
	must(c.t, json.Unmarshal(m.Result, &res))
	a := answered{line: m.line}
	must(c.t, json.Unmarshal(res.StructuredContent, &a))
	if a.Trusted || !strings.Contains(a.Why, "only the gate in CI is trusted") {
		c.t.Errorf("%s does not say that it is self-reported: %.300s", tool, m.line)
	}
	if schema := c.schemaOf(tool); schema != nil {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(res.StructuredContent)))
		must(c.t, err)
		if err := schema.Validate(doc); err != nil {
			c.t.Errorf("%s answers against its own schema: %v", tool, err)
		}
	}
	return a
}

// schemaOf is the output schema of a tool.
func (c *client) schemaOf(tool string) *jsonschema.Schema {
	c.t.Helper()
	if len(c.tools) == 0 {
		m := c.ask("tools/list", nil)
		var list struct {
			Tools []struct {
				Name         string
				OutputSchema json.RawMessage
			}
		}
		must(c.t, json.Unmarshal(m.Result, &list))
		for _, t := range list.Tools {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.OutputSchema)))
			must(c.t, err)
			compiler := jsonschema.NewCompiler()
			must(c.t, compiler.AddResource("tool.json", doc))
			c.tools[t.Name], err = compiler.Compile("tool.json")
			must(c.t, err)
		}
	}
	return c.tools[tool]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
