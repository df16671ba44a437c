package identity

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

const maxKeyFile = 64 << 10

// ReadKey reads an App's key in GitHub's format (PKCS #1) or that of other tools (PKCS #8).
// It rejects a key file that other users of the machine can read.
func ReadKey(path string) (*rsa.PrivateKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the App's key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot read the App's key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot read the App's key: %s is not a regular file", path)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return nil, fmt.Errorf("cannot use the App's key: other users have access to %s (mode %04o): run `chmod 600 %s`", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the App's key: %w", err)
	}
	key, err := ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the App's key in %s: %w", path, err)
	}
	return key, nil
}

// ParseKey parses a PEM key. Its errors never quote the key.
func ParseKey(text []byte) (*rsa.PrivateKey, error) {
	if len(text) > maxKeyFile {
		return nil, errors.New("too long for a key")
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("not in PEM format: GitHub provides the key as a .pem file")
	}
	var key *rsa.PrivateKey
	switch block.Type {
	case "RSA PRIVATE KEY":
		k, err := x509.ParsePKCS1PrivateKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the key is damaged")
		}
		key = k
	case "PRIVATE KEY":
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the key is damaged")
		}
		k, ok := parsed.(*rsa.PrivateKey)
		if !ok {
			return nil, errors.New("not an RSA key, the only kind that GitHub accepts")
		}
		key = k
	default:
		return nil, fmt.Errorf("expected a private key, got %s", quoteClaim(block.Type))
	}
	if key.N.BitLen() < 2048 {
		return nil, fmt.Errorf("the key has %d bits, the min is 2048", key.N.BitLen())
	}
	return key, nil
}

// AppFrom returns the App configured by PAWL_APP_ID, PAWL_APP_INSTALLATION and
// PAWL_APP_KEY_FILE, limited to these permissions; nil if none is set.
func AppFrom(env Env, now func() time.Time, permissions map[string]string) (*App, error) {
	id, installation, file := env.Getenv("PAWL_APP_ID"), env.Getenv("PAWL_APP_INSTALLATION"), env.Getenv("PAWL_APP_KEY_FILE")
	if id == "" && installation == "" && file == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(installation, 10, 64)
	if id == "" || file == "" || err != nil || n <= 0 {
		return nil, errors.New("an App needs all of PAWL_APP_ID, PAWL_APP_INSTALLATION (a number) and PAWL_APP_KEY_FILE")
	}
	key, err := ReadKey(file)
	if err != nil {
		return nil, err
	}
	return &App{
		ID: id, Installation: n, Key: key, BaseURL: env.Getenv("GITHUB_API_URL"), Permissions: permissions,
		HTTP: env.HTTP, Now: now, Sleep: env.Sleep,
	}, nil
}
