// Writes a table of quantities as Kubernetes' own library reads them, against which our readers are tested.
//
//	go run -C tools ./quantities >common/src/test/resources/io/gpusharing/request/quantities.tsv
//
// A line is a text in JSON; then the unscaled value and the power of ten of its exact value, and its canonical form; or "error".
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

var numbers = []string{
	"", "0", "00", "000", "1", "01", "5", "8", "10", "50", "99", "100", "999", "1000", "1024", "1500", "200000", "123456789",
	"999999999999999", "1000000000000000", "9007199254740993", "99999999999999999", "100000000000000000", "999999999999999999",
	"1000000000000000000", "9223372036854775807", "9223372036854775808", "18446744073709551616", "123456789012345678901234567890",
	".", "0.", "1.", ".5", "0.5", "1.5", "0.1", "0.05", "00.50", "1.000", "100.0", "0.000000001", "0.0000000001", "1.0000000001",
	"0.999999999", "0.9999999999", "1234567890.123456789", "1234567890.1234567891", "0.000000000000000000000000000001",
	"9223372036854775807.5", "1.2.3", "..", "1..", "1 ", "1_000", "1,5", "0x10", "٣", "१", "１", "NaN", "Infinity", "null", "true",
}

var suffixes = []string{
	"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "K", "ki", "mi", "Z", "Zi", "Y", "i", "e", "ei", "EE", "nn",
	"e0", "E0", "e1", "e3", "E3", "e+3", "e-3", "e-9", "e-10", "e-30", "e9", "e18", "e19", "e20", "e30", "e31", "e64", "e308", "e999", "E999", "e1000",
	"e-999", "e4999", "e2147483647", "e4294967296", "e4294967297", "e4294967299", "e9223372036854775807", "e9223372036854775808",
	"e+", "e-", "e--3", "e+-3", "e3.5", "e3k", "e03", "e003", "E+03", "m3", "k3", "Ki3", "x", "µ", " k", "k ", "/", "%", "e٣",
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	seen := map[string]bool{}
	write := func(text string) {
		if seen[text] || unreadable(text) {
			return
		}
		seen[text] = true
		quoted, _ := json.Marshal(text)
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			fmt.Printf("%s\terror\n", quoted)
			return
		}
		canonical, _ := json.Marshal(quantity.String())
		exact := quantity.AsDec()
		fmt.Printf("%s\t%s\t%d\t%s\n", quoted, exact.UnscaledBig(), -exact.Scale(), canonical)
	}
	for _, number := range numbers {
		for _, suffix := range suffixes {
			write(number + suffix)
		}
	}
	for _, sign := range []string{"+", "-", "--", "+-"} {
		for _, number := range []string{"", "0", "1", ".5", "1.0000000001", "9223372036854775808"} {
			for _, suffix := range []string{"", "n", "k", "E", "Ki", "Ei", "e3", "e-10"} {
				write(sign + number + suffix)
			}
		}
	}
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 1000; i++ {
		write(strings.Repeat("0", random.Intn(3)) + digits(random, 25) + pick(random, "", ".", ".", "") + digits(random, 14) + suffixes[random.Intn(len(suffixes))])
	}
	const alphabet = "0123456789+-.eEinumkKMGTP"
	for i := 0; i < 1000; i++ {
		text := make([]byte, 1+random.Intn(9))
		for at := range text {
			text[at] = alphabet[random.Intn(len(alphabet))]
		}
		write(string(text))
	}
	write(strings.Repeat("0", 5000) + "7")
	write(strings.Repeat("9", 5000))
	write("0." + strings.Repeat("0", 5000) + "1")
	write("1" + strings.Repeat("0", 5000) + "Ki")
}

// Multiplied out such a number would not fit any memory; an API server that is sent it does not survive either.
func unreadable(text string) bool {
	for _, exponent := range []string{"e2147483647", "E2147483647"} {
		if at := strings.Index(text, exponent); at >= 0 {
			digits := strings.Trim(text[:at], "+-")
			return len(strings.ReplaceAll(digits, ".", "")) > 17
		}
	}
	at := strings.IndexAny(text, "eE")
	return at >= 0 && len(strings.Trim(text[at+1:], "+-0")) > 4 && strings.Trim(text[at+1:], "+-0123456789") == "" &&
		!strings.HasPrefix(text[at+1:], "4294967") && !strings.HasPrefix(text[at+1:], "922337")
}

func digits(random *rand.Rand, most int) string {
	text := make([]byte, random.Intn(most))
	for at := range text {
		text[at] = byte('0' + random.Intn(10))
	}
	return string(text)
}

func pick(random *rand.Rand, from ...string) string { return from[random.Intn(len(from))] }
