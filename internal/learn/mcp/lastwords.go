package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastWords is how long requests under way may still be answered after a client closed its
// side. A client that asks and closes at once, such as a pipe from a file, hears what it
// asked for; one that went away takes its work with it soon.
const lastWords = 2 * time.Second

// patient is a transport whose end waits for the answers that are owed.
type patient struct{ mcp.Transport }

func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &owing{Connection: c, owed: map[jsonrpc.ID]bool{}, paid: make(chan struct{}, 1)}, nil
}

// owing is a connection that knows which requests have no answer yet.
type owing struct {
	mcp.Connection
	mu   sync.Mutex
	owed map[jsonrpc.ID]bool
	paid chan struct{} // an answer went out
}

func (o *owing) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := o.Connection.Read(ctx)
	if err != nil {
		o.settle(ctx)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		o.mu.Lock()
		o.owed[r.ID] = true
		o.mu.Unlock()
	}
	return m, nil
}

func (o *owing) Write(ctx context.Context, m jsonrpc.Message) error {
	err := o.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		o.mu.Lock()
		delete(o.owed, r.ID)
		o.mu.Unlock()
		select {
		case o.paid <- struct{}{}:
		default:
		}
	}
	return err
}

func (o *owing) settle(ctx context.Context) {
	late := time.After(lastWords)
	for {
		o.mu.Lock()
		n := len(o.owed)
		o.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-o.paid:
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}
