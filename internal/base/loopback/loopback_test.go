package loopback

import "testing"

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1": true, "127.8.0.1:8080": true, "::1": true, "[::1]": true, "[::1]:443": true, "::ffff:127.0.0.1": true,
		"": false, ":8080": false, "0.0.0.0": false, "[::]:80": false, "10.0.0.1": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "2130706433": false,
		"127.0.0.1:80:80": false, "[127.0.0.1": true, "fe80::1%lo": false,
	} {
		if got := Is(host); got != want {
			t.Errorf("Is(%q) = %t, want %t", host, got, want)
		}
	}
}
