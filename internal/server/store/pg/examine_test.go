package pg

import (
	"testing"
)

func TestCheckVersion(t *testing.T) {
	for number, ok := range map[string]bool{
		"150014": true, "150018": true, "150013": false, "150000": false,
		"160010": true, "160009": false, "170006": true, "170005": false, "180000": true, "190002": true,
		"140019": false, "130022": false, "90624": false, "": false, "15.14": false, "-1": false, "99999999999999999999": false,
	} {
		if err := checkVersion(number); (err == nil) != ok {
			t.Errorf("%q: %v, want accepted %v", number, err, ok)
		}
	}
}

func TestCheckDurable(t *testing.T) {
	for _, test := range []struct {
		fsync, pages, commit string
		ok                   bool
	}{
		{"on", "on", "on", true},
		{"on", "on", "local", true},
		{"on", "on", "remote_apply", true},
		{"off", "on", "on", false},
		{"on", "off", "on", false},
		{"on", "on", "off", false},
	} {
		if err := checkDurable(test.fsync, test.pages, test.commit); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
