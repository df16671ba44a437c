package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
)

// Mail configures outgoing mail: one server and the allowed domains, both named by the operator. A user
// who may add a hook must not be able to send mail to arbitrary addresses in the operator's name.
type Mail struct {
	Server         string // HOST:PORT; empty means no mail. Port 465 uses TLS from the first byte
	From           string
	User, Password string   // empty if the server requires none
	Domains        []string // allowed domains of recipients
	TLS            *tls.Config
}

const (
	mailTimeout = 30 * time.Second // for a whole delivery
	maxAddress  = 254              // max bytes of an address
)

// Check returns an error if no mail could be sent with these settings.
func (m *Mail) Check() error {
	if m.Server == "" {
		return nil
	}
	if host, port, err := net.SplitHostPort(m.Server); err != nil || host == "" || port == "" {
		return fmt.Errorf("mail.server: %q is not an address such as mail.example.com:587", m.Server)
	}
	if _, err := plainAddress(m.From); err != nil {
		return fmt.Errorf("mail.from: %w", err)
	}
	if len(m.Domains) == 0 {
		return errors.New("mail.domains: list the domains that mail may go to, such as example.com")
	}
	return nil
}

// Address returns the recipient of a hook of kind mail, or ErrRefused if it is not allowed.
func (m *Mail) Address(hook string) (string, error) {
	if m.Server == "" {
		return "", fmt.Errorf("%w: this server does not send mail; its operator can set mail.server", ErrRefused)
	}
	text, ok := strings.CutPrefix(hook, "mailto:")
	if !ok {
		return "", fmt.Errorf("%w: the address of a mail hook must be mailto:NAME@HOST", ErrRefused)
	}
	to, err := plainAddress(text)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	domain := strings.ToLower(to[strings.LastIndexByte(to, '@')+1:])
	if !slices.ContainsFunc(m.Domains, func(d string) bool { return strings.EqualFold(d, domain) }) {
		return "", fmt.Errorf("%w: mail to %s is not allowed; the operator of the server lists the allowed domains (mail.domains)", ErrRefused, domain)
	}
	return to, nil
}

// plainAddress accepts only NAME@HOST in unquoted ASCII. Its result is safe in a header and in a command.
func plainAddress(text string) (string, error) {
	for _, r := range text {
		if r <= ' ' || r > '~' || strings.ContainsRune("\"<>()[],;:\\%?#", r) {
			return "", fmt.Errorf("%q is not a plain address such as kernels@example.com", text)
		}
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text || len(text) > maxAddress {
		return "", fmt.Errorf("%q is not a plain address such as kernels@example.com", text)
	}
	return text, nil
}

// send passes a digest to the mail server. A permanent failure becomes ErrRefused.
func (m *Mail) send(ctx context.Context, hook string, now time.Time, d *Digest) error {
	to, err := m.Address(hook)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	c, err := m.dial(ctx)
	if err != nil {
		return fmt.Errorf("cannot connect to the mail server %s: %w", m.Server, err)
	}
	defer c.Close()
	if err := m.hand(c, to, m.message(to, now, d)); err != nil {
		if e, ok := errors.AsType[*textproto.Error](err); ok && e.Code >= 500 {
			err = fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return fmt.Errorf("cannot send through the mail server %s: %w", m.Server, err)
	}
	_ = c.Quit() // the server has accepted the mail, so the result does not matter
	return nil
}

// Try connects and logs in as for a mail, but sends none.
func (m *Mail) Try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	c, err := m.dial(ctx)
	if err != nil {
		return err
	}
	return c.Close()
}

// dial connects and logs in. It requires TLS unless the server is on this machine.
func (m *Mail) dial(ctx context.Context) (*smtp.Client, error) {
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", m.Server)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	secure := &tls.Config{}
	if m.TLS != nil {
		secure = m.TLS.Clone()
	}
	secure.ServerName, secure.MinVersion = host, tls.VersionTLS12
	if port == "465" {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if err := m.greet(c, host, port, secure); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (m *Mail) greet(c *smtp.Client, host, port string, secure *tls.Config) error {
	if err := c.Hello("localhost"); err != nil {
		return err
	}
	if offered, _ := c.Extension("STARTTLS"); offered && port != "465" {
		if err := c.StartTLS(secure); err != nil {
			return err
		}
	} else if port != "465" && !loopback.Is(host) {
		return errors.New("it does not offer TLS: the message would be sent in plain text")
	}
	if m.User == "" {
		return nil
	}
	return c.Auth(smtp.PlainAuth("", m.User, m.Password, host))
}

func (m *Mail) hand(c *smtp.Client, to string, message []byte) error {
	if err := c.Mail(m.From); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	return w.Close()
}

// message formats the digest as a mail. Every attempt of a delivery has the same Message-ID, so that
// mail programs can detect duplicates.
func (m *Mail) message(to string, now time.Time, d *Digest) []byte {
	var b bytes.Buffer
	domain := m.From[strings.LastIndexByte(m.From, '@')+1:]
	for _, h := range [][2]string{
		{"From", m.From},
		{"To", to},
		{"Subject", mime.QEncoding.Encode("utf-8", "["+plainText(d.Project)+"] "+d.headline())},
		{"Date", now.UTC().Format(time.RFC1123Z)},
		{"Message-ID", "<" + d.ID + "@" + domain + ">"},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	_, _ = io.WriteString(q, d.Plain()+"\n")
	_ = q.Close() // a buffer accepts everything
	return b.Bytes()
}
