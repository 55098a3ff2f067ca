import ErrandHTTPSyntax
import Testing

@Suite("Names of hosts", .leakChecked) struct HostNameTests {
    @Test(
        "every spelling of a host has the same normal form, and text that isn't a host doesn't have one",
        arguments: [
            ("api.test", "api.test"), ("API.Test.", "api.test"), ("xn--bcher-kva.test", "xn--bcher-kva.test"),
            ("XN--BCHER-KVA.test", "xn--bcher-kva.test"), ("127.1", "127.0.0.1"), ("0177.0.0.1.", "127.0.0.1"),
            ("2130706433", "127.0.0.1"), ("[::1]", "::1"), ("0:0::1", "::1"), ("fe80::1%25eth0", "fe80::1"),
            ("::ffff:127.0.0.1", "::ffff:127.0.0.1"), ("a_b.test", "a_b.test"), ("", nil), (".", nil), ("a..b", nil),
            ("api.test..", nil), ("api.test:443", nil), ("https://api.test", nil), ("api.test/", nil), ("a b", nil),
            ("b\u{FC}cher.test", nil), ("*.api.test", nil), ("[::1", nil), ("a\0b", nil), ("[api.test]", nil),
            ("[127.0.0.1]", nil),
        ] as [(String, String?)])
    func normalized(text: String, host: String?) {
        #expect(HostName.normalized(text) == host)
    }

    @Test("an address doesn't need a lookup, and a name with a port isn't an address")
    func addresses() {
        for text in ["::1", "[::1]", "fe80::1%eth0", "127.1", "10.0.0.1"] {
            #expect(HostName.isAddress(text), "\(text)")
        }
        for text in ["api.test:80", "a:b", "api.test", ""] { #expect(!HostName.isAddress(text), "\(text)") }
    }

    @Test("hosts are compared without the spelling of an address, and with its zone and the final dot of a name")
    func comparable() {
        for (text, host) in [
            ("API.test.", "api.test."), ("[0:0::1]", "::1"), ("FE80:0::1%25eth0", "fe80::1%25eth0"),
            ("127.1", "127.0.0.1"), ("[::1", "[::1"), ("", ""),
        ] {
            #expect(HostName.comparable(text) == host)
        }
    }

    @Test("an authority is sent with an address in its usual form, without its zone")
    func sentAuthority() {
        for (text, sent) in [
            ("[0:0::1]:81", "[::1]:81"), ("[FE80:0::1%25eth0]", "[fe80::1]"), ("127.1:80", "127.0.0.1:80"),
            ("API.test.:81", "API.test.:81"), ("1.test", "1.test"), ("[::1", "[::1"), ("[::1]", "[::1]"), ("", ""),
            (":80", ":80"), ("[x]:1", "[x]:1"),
        ] {
            #expect(HostName.sentAuthority(text) == sent)
        }
    }
}
