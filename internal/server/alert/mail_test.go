package alert_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/server/alert"
)

// postOffice is a mail server of one connection at a time; answers replace what it would
// say to a command.
type postOffice struct {
	addr    string
	answers map[string]string
	secure  *tls.Config   // nil for a server without STARTTLS
	heard   chan []string // the commands of a connection, after it ended
	mails   chan string
}

func newPostOffice(t *testing.T, secure *tls.Config) *postOffice {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &postOffice{addr: l.Addr().String(), answers: map[string]string{}, secure: secure, heard: make(chan []string, 100), mails: make(chan string, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			p.heard <- p.talk(conn)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return p
}

func (p *postOffice) talk(conn net.Conn) (heard []string) {
	defer func() { conn.Close() }()
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "220 here\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return heard
		}
		heard = append(heard, strings.TrimSpace(line))
		verb := strings.ToUpper(strings.Fields(line + " x")[0])
		answer := map[string]string{"EHLO": "250-here\r\n250-AUTH PLAIN\r\n250 8BITMIME", "AUTH": "235 fine", "DATA": "354 go on", "QUIT": "221 bye"}[verb]
		if verb == "EHLO" && p.secure != nil {
			answer = "250-here\r\n250-AUTH PLAIN\r\n250 STARTTLS"
		}
		if verb == "STARTTLS" {
			answer = "220 go on"
		}
		if own := p.answers[verb]; own != "" {
			answer = own
		}
		if answer == "" {
			answer = "250 fine"
		}
		fmt.Fprint(conn, answer+"\r\n")
		switch {
		case verb == "STARTTLS":
			conn = tls.Server(conn, p.secure)
			in = bufio.NewReader(conn)
		case verb == "DATA" && answer[0] == '3':
			var b strings.Builder
			for line, err := in.ReadString('\n'); err == nil && line != ".\r\n"; line, err = in.ReadString('\n') {
				b.WriteString(strings.TrimPrefix(line, "."))
			}
			end := p.answers["."]
			if end == "" {
				p.mails <- b.String()
				end = "250 taken"
			}
			fmt.Fprint(conn, end+"\r\n")
		case verb == "QUIT":
			return heard
		}
	}
}

func mailTeller(m alert.Mail) func(ctx context.Context, to string) error {
	if m.From == "" {
		m.From = "pawl@example.org"
	}
	m.Domains = []string{"example.com", "Kernels.Example.Com"}
	teller := alert.NewNotifier(alert.Options{URL: "https://pawl.example.org", Mail: m, Now: func() time.Time { return start }})
	return func(ctx context.Context, to string) error {
		return teller.Deliver(ctx, board{alert.Hook{ID: 7, Kind: "mail", URL: to}}, 1, 7, start)
	}
}

// read is a mail as a mail program sees it.
func read(t *testing.T, text string) (mail.Header, string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return m.Header, strings.ReplaceAll(string(body), "\r\n", "\n")
}

func TestMail(t *testing.T) {
	p := newPostOffice(t, nil)
	send := mailTeller(alert.Mail{Server: p.addr})
	for range 2 { // the second is another try of the same
		if err := send(t.Context(), "mailto:team@example.com"); err != nil {
			t.Fatal(err)
		}
		if heard := strings.Join(<-p.heard, "|"); !strings.Contains(heard, "MAIL FROM:<pawl@example.org>") || !strings.Contains(heard, "|RCPT TO:<team@example.com>|DATA|QUIT") {
			t.Errorf("it heard %s", heard)
		}
	}
	header, body := read(t, <-p.mails)
	again, _ := read(t, <-p.mails)
	d := alert.NewDigest(news(), "https://pawl.example.org")
	if body != d.Plain()+"\n" {
		t.Errorf("%s", body)
	}
	golden.Check(t, "digest.mail.txt", body)
	if header.Get("Message-ID") == "" || header.Get("Message-ID") != again.Get("Message-ID") {
		t.Errorf("two tries are two mails: %s, %s", header.Get("Message-ID"), again.Get("Message-ID"))
	}
	for name, want := range map[string]string{"To": "team@example.com", "From": "pawl@example.org", "Subject": "[flash] 3 changes for the worse", "Auto-Submitted": "auto-generated"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if at, err := header.Date(); err != nil || !at.Equal(start.Truncate(time.Second)) {
		t.Errorf("%v: %v", at, err)
	}
}

// What is for good is refused, everything else worth another try.
func TestMailThatIsNotTaken(t *testing.T) {
	for answer, again := range map[string]bool{
		"MAIL 451 busy": true, "MAIL 553 who are you": false, "RCPT 450 full": true, "RCPT 550 nobody": false,
		"DATA 421 closing": true, "DATA 554 no": false, ". 452 full": true, ". 552 too large": false, "EHLO 421 busy": true,
	} {
		p := newPostOffice(t, nil)
		verb, says, _ := strings.Cut(answer, " ")
		p.answers[verb] = says
		p.answers["HELO"] = p.answers["EHLO"]
		err := mailTeller(alert.Mail{Server: p.addr})(t.Context(), "mailto:team@example.com")
		if err == nil || errors.Is(err, alert.ErrRefused) == again {
			t.Errorf("%s: %v", answer, err)
		}
		if len(p.mails) > 0 {
			t.Errorf("%s: it was sent", answer)
		}
	}
	send := mailTeller(alert.Mail{Server: "127.0.0.1:1"})
	if err := send(t.Context(), "mailto:team@example.com"); err == nil || errors.Is(err, alert.ErrRefused) {
		t.Errorf("nobody is there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := send(ctx, "mailto:team@example.com"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A password goes to a server whose certificate is right, and to no other.
func TestMailOverTLS(t *testing.T) {
	certified := httptest.NewTLSServer(nil) // for its certificate of 127.0.0.1
	defer certified.Close()
	pool := x509.NewCertPool()
	pool.AddCert(certified.Certificate())
	p := newPostOffice(t, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12})
	m := alert.Mail{Server: p.addr, User: "pawl", Password: "s3cret", TLS: &tls.Config{RootCAs: pool}}
	if err := mailTeller(m)(t.Context(), "mailto:team@example.com"); err != nil {
		t.Fatal(err)
	}
	heard := <-p.heard
	if len(heard) < 4 || heard[1] != "STARTTLS" || !strings.HasPrefix(heard[3], "AUTH PLAIN ") || len(p.mails) != 1 {
		t.Errorf("it heard %q", heard)
	}
	m.TLS = nil
	err := mailTeller(m)(t.Context(), "mailto:team@example.com")
	heard = <-p.heard
	if err == nil || len(heard) != 2 || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("an unknown certificate: %v; it heard %q", err, heard)
	}
}

// No way leads from the address of a hook into a header, a command, or to a stranger.
func TestMailAddresses(t *testing.T) {
	m := alert.Mail{Server: "mail.example.org:587", From: "pawl@example.org", Domains: []string{"example.com"}}
	for _, good := range []string{"mailto:team@example.com", "mailto:a.b+c@EXAMPLE.com"} {
		if to, err := m.Address(good); err != nil || "mailto:"+to != good {
			t.Errorf("%s: %q %v", good, to, err)
		}
	}
	for _, bad := range []string{
		"", "team@example.com", "mailto:", "mailto:team", "mailto:team@evil.example", "mailto:team@sub.example.com", "mailto:team@evil.example@example.com",
		"mailto:team@example.com,x@evil.example", "mailto:team@example.com\r\nBcc: x@evil.example", "mailto:team@example.com?bcc=x@evil.example",
		"mailto:x%40evil.example,team@example.com", "mailto:Team <team@example.com>", "mailto:\"a b\"@example.com", "mailto:t\u00e9am@example.com",
		"mailto:team@[127.0.0.1]", "https://example.com", "mailto:" + strings.Repeat("a", 300) + "@example.com",
	} {
		if to, err := m.Address(bad); !errors.Is(err, alert.ErrRefused) {
			t.Errorf("%q goes to %q: %v", bad, to, err)
		}
	}
	if _, err := (&alert.Mail{}).Address("mailto:team@example.com"); !errors.Is(err, alert.ErrRefused) {
		t.Errorf("a server without mail: %v", err)
	}
}

func TestMailSettings(t *testing.T) {
	whole := alert.Mail{Server: "mail.example.org:587", From: "pawl@example.org", Domains: []string{"example.com"}}
	if err := errors.Join(whole.Check(), (&alert.Mail{}).Check()); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*alert.Mail){
		"mail.server":  func(m *alert.Mail) { m.Server = "mail.example.org" },
		"mail.from":    func(m *alert.Mail) { m.From = "pawl" },
		"mail.domains": func(m *alert.Mail) { m.Domains = nil },
	} {
		m := whole
		change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Whatever strangers call their kernels, a mail has the headers it should have, one line
// for each group, and no address but ours.
func TestNothingInAMailIsMarkup(t *testing.T) {
	for _, name := range []string{"a\r\nBcc: x@evil.example", "a\n\n- fake line", "see https://evil.example/a", "www.evil.example", "<https://evil.example>", "\u202eabc\x00\x1b[31m", ".\r\nQUIT", strings.Repeat("long", 1000), "größer"} {
		n := news()
		n.Groups = []client.Group{group(1, 0.1, 1, client.Event{Series: 1, Name: name, Kind: "step", Worse: true, Change: 0.1, Testbed: 1, Owners: []string{name}})}
		n.Project.Slug, n.Testbeds[1] = name, name
		d := alert.NewDigest(n, "")
		if text := d.Plain(); strings.Count(text, "\n") != 1 || strings.Contains(text, "://") || strings.Contains(text, "www.") || strings.ContainsAny(text, "\r\x00\x1b<>\u202e") {
			t.Errorf("%q", text)
		}
		p := newPostOffice(t, nil)
		teller := alert.NewNotifier(alert.Options{Mail: alert.Mail{Server: p.addr, From: "pawl@example.org", Domains: []string{"example.com"}}})
		if err := teller.Deliver(t.Context(), newsBoard{n}, 1, 7, start); err != nil {
			t.Fatal(err)
		}
		header, _ := read(t, <-p.mails)
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		if err != nil || len(header) != 9 || !strings.HasSuffix(subject, "] one change for the worse") {
			t.Errorf("%q: %v %v", subject, err, header)
		}
	}
}

type newsBoard struct{ news alert.News }

func (b newsBoard) News(context.Context, int64, time.Time) (alert.News, error) { return b.news, nil }

func (b newsBoard) HookByID(context.Context, int64, int64) (alert.Hook, error) {
	return alert.Hook{ID: 7, Kind: "mail", URL: "mailto:team@example.com"}, nil
}

// A mail server that others wrote takes it: the one of Python, where Python still has it.
func TestMailToAServerOfOthers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	server := exec.CommandContext(t.Context(), python, "-u", "-W", "ignore", "-c", `
import asyncore, smtpd, socket
socket.getfqdn = lambda *_: "localhost"  # the name servers of this machine may not answer
class Server(smtpd.SMTPServer):
    def process_message(self, peer, mailfrom, rcpttos, data, **kw):
        print("MAIL", mailfrom, rcpttos, data.hex(), flush=True)
s = Server(("127.0.0.1", 0), None)
print(s.socket.getsockname()[1], flush=True)
asyncore.loop(timeout=0.1)
`)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	lines := bufio.NewReader(out)
	port, err := lines.ReadString('\n')
	if err != nil {
		t.Skip("this Python has no smtpd")
	}
	if err := mailTeller(alert.Mail{Server: "127.0.0.1:" + strings.TrimSpace(port)})(t.Context(), "mailto:team@example.com"); err != nil {
		t.Fatal(err)
	}
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var from, to, data string
	if _, err := fmt.Sscanf(line, "MAIL %s %s %s", &from, &to, &data); err != nil || from != "pawl@example.org" || to != "['team@example.com']" {
		t.Fatalf("%q: %v", line, err)
	}
	var text []byte
	if _, err := fmt.Sscanf(data, "%x", &text); err != nil {
		t.Fatal(err)
	}
	d := alert.NewDigest(news(), "https://pawl.example.org")
	if _, body := read(t, string(text)+"\n"); strings.TrimSpace(body) != d.Plain() {
		t.Errorf("%s", body)
	}
}
