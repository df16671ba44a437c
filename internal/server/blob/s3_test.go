package blob_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/blob"
)

// TestS3 holds a real S3 server to what the folder is held to. versitygw is found in
// PAWL_VERSITYGW or PATH; its buckets are folders, so that one can look behind its back.
func TestS3(t *testing.T) {
	root, endpoint := versitygw(t)
	var n atomic.Int64
	conform(t, func(t *testing.T) place {
		t.Helper()
		name := fmt.Sprintf("bucket%d", n.Add(1))
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return place{open(t, "s3://"+name+"?region=us-east-1&use_path_style=true&endpoint="+endpoint), dir}
	})
	t.Run("no such bucket", func(t *testing.T) {
		if err := listed(t, open(t, "s3://nowhere?region=us-east-1&use_path_style=true&endpoint="+endpoint)); err == nil {
			t.Error("it answers")
		}
	})
}

// versitygw starts the server on a folder and waits until it answers.
func versitygw(t *testing.T) (root, endpoint string) {
	t.Helper()
	program := os.Getenv("PAWL_VERSITYGW")
	if program == "" {
		found, err := exec.LookPath("versitygw")
		if err != nil {
			t.Skip("no versitygw in PATH: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
		}
		program = found
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "pawltest")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "pawltestsecret")
	root = t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "--port", address, "posix", root)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=pawltest", "ROOT_SECRET_KEY=pawltestsecret")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	endpoint = "http://" + address
	// Another program may have taken the port. Only our server serves this folder.
	if err := os.Mkdir(filepath.Join(root, "ready"), 0o755); err != nil {
		t.Fatal(err)
	}
	ready := open(t, "s3://ready?region=us-east-1&use_path_style=true&endpoint="+endpoint)
	await.True(t, "versitygw to answer", func() bool {
		select {
		case <-ended:
			t.Fatalf("versitygw ended: %s", said.String())
		default:
		}
		return listed(t, ready) == nil
	})
	return root, endpoint
}

// listed returns nil if a bucket can be listed.
func listed(t *testing.T, b *blob.Bucket) error {
	t.Helper()
	for _, err := range b.Projects(t.Context()) {
		return err
	}
	return nil
}
