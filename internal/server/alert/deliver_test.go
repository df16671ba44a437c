package alert_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/goatnote-inc/pawl/internal/server/alert"
)

// board has one hook, and the same news always.
type board struct{ hook alert.Hook }

func (b board) News(context.Context, int64, time.Time) (alert.News, error) { return news(), nil }
func (b board) HookByID(context.Context, int64, int64) (alert.Hook, error) { return b.hook, nil }

func TestDeliver(t *testing.T) {
	var ids []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if got := r.Header.Get("Pawl-Signature"); got != alert.Sign("s3cret", start, body) {
			t.Errorf("signature %s of %s", got, body)
		}
		ids = append(ids, r.Header.Get("Pawl-Delivery"))
		if status == http.StatusFound {
			w.Header().Set("Location", "/other")
		}
		w.WriteHeader(status)
		_, _ = w.Write(make([]byte, 1<<20)) // more than anybody reads
	}))
	defer server.Close()
	teller := alert.NewNotifier(alert.Options{URL: "https://pawl.example.org", Private: true, Now: func() time.Time { return start }})
	send := func(kind string, told time.Time) error {
		return teller.Deliver(t.Context(), board{alert.Hook{ID: 7, Kind: kind, URL: server.URL + "/T0/secret", Secret: "s3cret"}}, 1, 7, told)
	}
	for _, kind := range []string{"json", "slack"} {
		if err := send(kind, start); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if err := send("json", start.Add(time.Second)); err != nil || ids[0] != ids[1] || ids[0] == ids[2] || len(ids[0]) != 32 {
		t.Errorf("%v: deliveries %q", err, ids)
	}
	for code, again := range map[int]bool{301: false, 302: false, 400: false, 403: false, 404: false, 410: false, 408: true, 429: true, 500: true, 503: true} {
		status = code
		before := len(ids)
		err := send("json", start)
		if err == nil || errors.Is(err, alert.ErrRefused) == again {
			t.Errorf("%d: %v", code, err)
		} else if strings.Contains(err.Error(), "T0/secret") {
			t.Errorf("the address of a hook is a secret: %v", err)
		}
		if len(ids) != before+1 {
			t.Errorf("%d was asked %d times", code, len(ids)-before)
		}
	}
	server.Close()
	if err := send("json", start); err == nil || errors.Is(err, alert.ErrRefused) || strings.Contains(err.Error(), "T0/secret") {
		t.Errorf("a server that is away: %v", err)
	}
	if err := send("email", start); !errors.Is(err, alert.ErrRefused) {
		t.Errorf("a strange kind: %v", err)
	}
}

func TestHooksThatAreRefused(t *testing.T) {
	for address, allowed := range map[string][2]bool{ // as it is, and with private addresses allowed
		"https://hooks.example.org/x":         {true, true},
		"https://93.184.216.34/x":             {true, true},
		"https://[2606:2800:220:1::1]/x":      {true, true},
		"http://hooks.example.org/x":          {false, true},
		"ftp://hooks.example.org/x":           {false, false},
		"https://user:pw@hooks.example.org/x": {false, false},
		"https:///x":                          {false, false},
		"https://:443/x":                      {false, false},
		"":                                    {false, false},
		"https://127.0.0.1/x":                 {false, true},
		"https://[::1]/x":                     {false, true},
		"https://10.1.2.3/x":                  {false, true},
		"https://172.31.255.255/x":            {false, true},
		"https://192.168.1.1/x":               {false, true},
		"https://100.64.0.1/x":                {false, true},
		"https://[fd00:ec2::254]/x":           {false, true},
		"https://[::ffff:10.0.0.1]/x":         {false, true},
		"https://0.0.0.0/x":                   {false, false},
		"https://169.254.169.254/latest/":     {false, false},
		"https://[fe80::1]/x":                 {false, false},
		"https://[fe80::1%25eth0]/x":          {false, false},
		"https://[::ffff:169.254.169.254]/x":  {false, false},
		"https://[64:ff9b::a9fe:a9fe]/x":      {false, false},
		"https://[2002:a9fe:a9fe::]/x":        {false, false},
		"https://[::]/x":                      {false, false},
		"https://224.0.0.1/x":                 {false, false},
		"https://255.255.255.255/x":           {false, false},
	} {
		for i, private := range []bool{false, true} {
			err := alert.CheckHook(address, private)
			if (err == nil) != allowed[i] || err != nil && !errors.Is(err, alert.ErrRefused) {
				t.Errorf("%q, private %v: %v", address, private, err)
			}
		}
	}
}

// A name that means an address of the world when somebody looks, and one of ours when it
// is dialled, reaches nobody.
func TestRebinding(t *testing.T) {
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, answers := range [][]string{
		{"127.0.0.1"}, {"169.254.169.254"}, {"10.0.0.1", "127.0.0.1"}, {"::1"}, {"::ffff:127.0.0.1"}, {"0.0.0.0"},
	} {
		resolver, asked := names(t, answers)
		teller := alert.NewNotifier(alert.Options{Resolver: resolver})
		err := teller.Deliver(t.Context(), board{alert.Hook{Kind: "json", URL: "https://rebind.example.org:" + port + "/"}}, 1, 1, start)
		if !errors.Is(err, alert.ErrRefused) {
			t.Errorf("%v: %v", answers, err)
		}
		if asked.Load() == 0 {
			t.Errorf("%v: our resolver was not asked", answers)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	// With loopback allowed the same name gets there: the test can fail.
	resolver, _ := names(t, []string{"127.0.0.1"})
	teller := alert.NewNotifier(alert.Options{Resolver: resolver, Private: true})
	err = teller.Deliver(t.Context(), board{alert.Hook{Kind: "json", URL: "http://rebind.example.org:" + port + "/"}}, 1, 1, start)
	if err != nil || reached.Load() != 1 {
		t.Errorf("%v, %d connections", err, reached.Load())
	}
}

// names is a resolver of ours that says for every name what it is told to.
func names(t *testing.T, answers []string) (*net.Resolver, *atomic.Int64) {
	t.Helper()
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	asked := new(atomic.Int64)
	go func() {
		b := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			asked.Add(1)
			if reply, err := answer(b[:n], answers); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, asked
}

func answer(query []byte, answers []string) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	q := m.Questions[0]
	for _, text := range answers {
		ip := net.ParseIP(text)
		h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		four := ip.To4()
		switch mapped := strings.Contains(text, ":"); {
		case q.Type == dnsmessage.TypeA && four != nil && !mapped:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: [4]byte(four)}})
		case q.Type == dnsmessage.TypeAAAA && mapped:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip.To16())}})
		}
	}
	return m.Pack()
}
