extension Rule {
    /// 5.1.1: a date that parses expires the cookie, here within a day; any other date doesn't.
    static let dates: [Rule] =
        [
            "Sun, 09 Sep 2001 02:46:40 GMT", "Sunday, 09-Sep-01 02:46:40 GMT", "Sun Sep  9 02:46:40 2001",
            "09 Sep 2001 02:46:40", "9 SEPTEMBER 2001 2:46:40", "2001 sep 9 02:46:40 PST", "02:46:40 Sep 9 2001",
            "Sun, 09-Sep-2001 02:46:40 GMT+0100 (CET)", "9th Sep 01 02:46:40x", "!9#Sep$2001%02:46:40&",
            "Sep 9 2001 02:46:40 10 Oct 2010 03:00:00", "9 Sep 2001 02:46:40.999",
        ].map { Rule("5.1.1", "a=b; Expires=\($0)", after: 3600, sent: "") }
        + [
            "09 Sep 2001", "09 Sep 02:46:40", "Sep 2001 02:46:40", "09 Foo 2001 02:46:40", "32 Sep 2001 02:46:40",
            "00 Sep 2001 02:46:40", "31 Sep 2001 02:46:40", "29 Feb 2001 02:46:40", "09 Sep 1600 02:46:40",
            "09 Sep 2001 24:46:40", "09 Sep 2001 02:60:40", "09 Sep 2001 02:46:60", "09 Sep 2001 02:46",
            // If several tokens look like the same part of a date, the first one counts, even if it is out of range.
            "Sat, 15-Apr-17 91:22:33 21:01:22", "99 Sep 9 2001 02:46:40", "Sep 09 2001 24:00:00 02:46:40",
            "Sep 09 2001 00:60:00 02:46:40", "Sep 09 2001 00:00:60 02:46:40", "00 09 Sep 2001 02:46:40",
            "09 Sep 1600 2001 02:46:40", "009 Sep 2001 02:46:40", "09 Sep 12001 02:46:40", "09 Sep 1 02:46:40", "",
            "tomorrow",
        ].map { Rule("5.1.1", "a=b; Expires=\($0)", after: 86_400, sent: "a=b") }
        + [
            Rule("5.1.1, step 3", "a=b; Expires=09 Sep 70 00:00:00", sent: ""),
            Rule("5.1.1, step 4", "a=b; Expires=09 Sep 69 00:00:00", after: 86_400, sent: "a=b"),
        ]

    /// 5.1.2, 5.1.3, 5.6.3 and 5.7, steps 7 to 10
    static let domains = [
        Rule("5.1.2", "a=b; Domain=EXAMPLE.com; Path=/", to: "https://WWW.Example.COM/", sent: "a=b"),
        Rule("5.1.3", "a=b; Domain=example.com; Path=/", to: "https://example.com/", sent: "a=b"),
        Rule("5.1.3", "a=b; Domain=example.com; Path=/", to: "https://x.y.example.com/", sent: "a=b"),
        Rule("5.1.3", "a=b; Domain=example.com; Path=/", to: "https://notexample.com/", sent: ""),
        Rule("5.1.3", "a=b; Domain=example.com; Path=/", to: "https://example.com.evil.net/", sent: ""),
        Rule("5.1.3", "a=b; Domain=ample.com", sent: ""),
        Rule("5.1.3", "a=b; Domain=sub.www.example.com", sent: ""),
        Rule("5.1.3", "a=b; Domain=other.example.com", sent: ""),
        Rule("5.1.3", "a=b; Domain=example.net", sent: ""),
        Rule("5.1.3", "a=b; Domain=0.0.1", from: "http://127.0.0.1/", sent: ""),
        Rule("5.1.3", "a=b; Domain=127.0.0.1", from: "http://127.0.0.1/", sent: "a=b"),
        Rule("5.1.3", "a=b", from: "http://127.0.0.1/", to: "http://1.127.0.0.1/", sent: ""),
        Rule("5.1.3", "a=b", from: "http://[::1]/", sent: "a=b"),
        Rule("5.6.3", "a=b; Domain=.example.com; Path=/", to: "https://example.com/", sent: "a=b"),
        Rule("5.6.3", "a=b; Domain=..example.com", sent: ""), Rule("5.6.3", "a=b; Domain=example.com.", sent: ""),
        Rule("5.6.3", "a=b; Domain=www..example.com", sent: ""),
        Rule("5.6.3", "a=b; Domain=example.com:443", sent: ""),
        Rule("5.6.3", "a=b; Domain=\"example.com\"", sent: ""),
        Rule("5.6.3", "a=b; Domain= . example.com", sent: ""),
        Rule("5.6.3", "a=b; Domain=  .example.com ", sent: "a=b"),
        Rule("5.6.3", "a=b; Domain=", to: "https://sub.www.example.com/a/b", sent: ""),
        Rule("5.6.3", "a=b; Domain", sent: "a=b"),
        Rule("5.7, step 7", "a=b; Domain=example.net; Domain=example.com", sent: "a=b"),
        Rule("5.7, step 7", "a=b; Domain=example.com; Domain=example.net", sent: ""),
        Rule("5.7, step 7", "a=b; Domain=example.com; Domain=", to: "https://example.com/a/b", sent: ""),
        Rule("5.7, step 8", "a=b; Domain=ex\u{E4}mple.com", sent: ""),
        Rule("5.7, step 8", "a=b; Domain=\u{212A}.com", from: "https://k.com/", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=com", sent: ""), Rule("5.7, step 9", "a=b; Domain=.com", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=co.uk", from: "https://shop.co.uk/", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=com.", from: "https://evil.com./", to: "https://bank.com./", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=.com.", from: "https://evil.com./", to: "https://bank.com./", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=com..", from: "https://evil.com../", to: "https://bank.com../", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=co.uk.", from: "https://evil.co.uk./", to: "https://bank.co.uk./", sent: ""),
        Rule("5.7, step 9", "a=b; Domain=..com", from: "https://evil..com/", to: "https://bank..com/", sent: ""),
        Rule(
            "5.7, step 9", "a=b; Domain=evil.com.", from: "https://evil.com./", to: "https://w.evil.com./", sent: "a=b"),
        Rule("5.7, step 9", "a=b; Domain=localhost", from: "http://localhost/", sent: "a=b"),
        Rule("5.7, step 9", "a=b; Domain=localhost", from: "http://localhost/", to: "http://x.localhost/", sent: ""),
        Rule("5.7, step 10", "a=b", to: "https://sub.www.example.com/a/b", sent: ""),
        Rule("5.7, step 10", "a=b", to: "https://example.com/a/b", sent: ""),
        Rule("5.7, step 10", "a=b; Path=/", to: "https://www.example.com:8443/", sent: "a=b"),
    ]

    /// 5.1.4 and 5.6.4
    static let paths = [
        Rule("5.1.4", "a=b", to: "https://www.example.com/a/c", sent: "a=b"),
        Rule("5.1.4", "a=b", to: "https://www.example.com/a", sent: "a=b"),
        Rule("5.1.4", "a=b", to: "https://www.example.com/", sent: ""),
        Rule("5.1.4", "a=b", from: "https://example.com/a", to: "https://example.com/x", sent: "a=b"),
        Rule("5.1.4", "a=b", from: "https://example.com", to: "https://example.com/x", sent: "a=b"),
        Rule("5.1.4", "a=b", from: "https://example.com/a/b?c=/d/e", to: "https://example.com/a/", sent: "a=b"),
        Rule("5.1.4", "a=b; Path=/x", to: "https://www.example.com/x", sent: "a=b"),
        Rule("5.1.4", "a=b; Path=/x", to: "https://www.example.com/x/y", sent: "a=b"),
        Rule("5.1.4", "a=b; Path=/x", to: "https://www.example.com/x?y", sent: "a=b"),
        Rule("5.1.4", "a=b; Path=/x", to: "https://www.example.com/xy", sent: ""),
        Rule("5.1.4", "a=b; Path=/x/", to: "https://www.example.com/x/y", sent: "a=b"),
        Rule("5.1.4", "a=b; Path=/x/", to: "https://www.example.com/x", sent: ""),
        Rule("5.1.4", "a=b; Path=/x/", to: "https://www.example.com/x//y", sent: "a=b"),
        Rule("5.1.4", "a=b; Path=/X", to: "https://www.example.com/x", sent: ""),
        Rule("5.1.4", "a=b; Path=/%78", to: "https://www.example.com/x", sent: ""),
        Rule("5.1.4", "a=b; Path=/x?", to: "https://www.example.com/x?", sent: ""),
        Rule("5.6.4", "a=b; Path=x", to: "https://www.example.com/a/c", sent: "a=b"),
        Rule("5.6.4", "a=b; Path=\"/x\"", to: "https://www.example.com/a/c", sent: "a=b"),
        Rule("5.6.4", "a=b; Path=", to: "https://www.example.com/x", sent: ""),
        Rule("5.6.4", "a=b; Path", to: "https://www.example.com/a", sent: "a=b"),
        Rule("5.6.4", "a=b; Path=/x; Path=/a", sent: "a=b"), Rule("5.6.4", "a=b; Path=/a; Path=/x", sent: ""),
        Rule("5.6.4", "a=b; Path=/x; Path=", sent: "a=b"),
    ]

    /// 5.6: names and values
    static let parsing = [
        Rule("5.6, step 1", "a=b\u{0}c", sent: ""), Rule("5.6, step 1", "a=b\rc", sent: ""),
        Rule("5.6, step 1", "a=b; x=\u{7F}", sent: ""), Rule("5.6, step 1", "a=b\tc", sent: "a=b\tc"),
        Rule("5.6, step 2", "a=b;c=d", sent: "a=b"), Rule("5.6, step 2", "a=\"b;c\"", sent: "a=\"b"),
        Rule("5.6, step 3", "a", sent: "a"), Rule("5.6, step 3", "=a", sent: "a"),
        Rule("5.6, step 3", "a;b=c", sent: "a"), Rule("5.6, step 3", "=a=b", sent: "a=b"),
        Rule("5.6, step 3", "a=b=c", sent: "a=b=c"), Rule("5.6, step 3", "a==", sent: "a=="),
        Rule("5.6, step 3", "a=", sent: "a="), Rule("5.6, step 4", "  a  =  b  ", sent: "a=b"),
        Rule("5.6, step 4", "a=\tb c\t;", sent: "a=b c"), Rule("5.6, step 4", "a b=c", sent: "a b=c"),
        Rule("5.6, step 4", "a=\" b \"", sent: "a=\" b \""),
        Rule("5.6, step 5", "a=" + String(repeating: "x", count: 4096), sent: ""),
        Rule("5.6, step 5", "a=" + String(repeating: "\u{E9}", count: 2048), sent: ""),
        Rule(
            "5.6, step 5", "a=" + String(repeating: "x", count: 4095),
            sent: "a=" + String(repeating: "x", count: 4095)),
        Rule("5.6", "a=b, c=d", sent: "a=b, c=d"), Rule("5.6", "a=\u{6625}\u{8282}", sent: "a=\u{6625}\u{8282}"),
        Rule("5.6", "\u{6625}=b", sent: "\u{6625}=b"), Rule("5.6", "$Version=1; a=b", sent: "$Version=1"),
        Rule("5.6", "\"a=b\"=c", sent: "\"a=b\"=c"),
        Rule("5.6", "!#$%&'*+-.^_`|~(),/:<>?@[]{}=x", sent: "!#$%&'*+-.^_`|~(),/:<>?@[]{}=x"),
        Rule("5.7, step 2", "", sent: ""), Rule("5.7, step 2", "=", sent: ""), Rule("5.7, step 2", " = ;a", sent: ""),
        Rule("5.7, step 2", "   ", sent: ""), Rule("5.7, step 2", "; a=b", sent: ""),
    ]

    /// 5.5, and attributes in 5.6
    static let attributes = [
        Rule("5.6", "a=b; ;; ;=; ,,, ===,x,=; foo! max-age=0;=;;", sent: "a=b"),
        Rule("5.6", "a=b; x=\"y;Path=/z\"", sent: ""),
        Rule("5.6", "a=b; path  =  /z", to: "https://www.example.com/z", sent: "a=b"),
        Rule("5.6", "a=b; PATH=/z", to: "https://www.example.com/z", sent: "a=b"),
        Rule("5.6", "a=b; Path=/" + String(repeating: "z", count: 1024), sent: "a=b"),
        Rule("5.6", "a=b; Domain=" + String(repeating: "z", count: 1025), sent: "a=b"),
        Rule("5.6.1", "a=b; Expires=Sun, 09 Sep 2001 01:46:40 GMT", sent: ""),
        Rule("5.6.1", "a=b; Expires=Sun, 09 Sep 2001 01:46:41 GMT", sent: "a=b"),
        Rule("5.6.1", "a=b; Expires=Sun, 09 Sep 2001 01:46:30 GMT; Expires=soon", sent: ""),
        Rule("5.6.2", "a=b; Max-Age=60", after: 59, sent: "a=b"), Rule("5.6.2", "a=b; Max-Age=60", after: 60, sent: ""),
        Rule("5.6.2", "a=b; Max-Age=0", sent: ""), Rule("5.6.2", "a=b; Max-Age=-1", sent: ""),
        Rule("5.6.2", "a=b; Max-Age=", after: 1e9, sent: "a=b"), Rule("5.6.2", "a=b; Max-Age=-", sent: "a=b"),
        Rule("5.6.2", "a=b; Max-Age=+0", sent: "a=b"), Rule("5.6.2", "a=b; Max-Age=1.5", after: 9, sent: "a=b"),
        Rule("5.6.2", "a=b; Max-Age=1,0", after: 9, sent: "a=b"),
        Rule("5.6.2", "a=b; Max-Age=0; Max-Age=60", sent: "a=b"),
        Rule("5.6.2", "a=b; Max-Age=99999999999999999999999", after: 3.4e7, sent: "a=b"),
        Rule("5.7, step 6", "a=b; Expires=Sun, 09 Sep 2001 01:46:30 GMT; Max-Age=60", sent: "a=b"),
        Rule("5.7, step 6", "a=b; Max-Age=0; Expires=Sun, 09 Sep 2029 01:46:30 GMT", sent: ""),
        Rule("5.7, step 6", "a=b", after: 1e9, sent: "a=b"),
        Rule("5.5", "a=b; Max-Age=99999999999", after: 400 * 86_400 - 1, sent: "a=b"),
        Rule("5.5", "a=b; Max-Age=99999999999", after: 400 * 86_400, sent: ""),
        Rule("5.5", "a=b; Expires=Sun, 09 Sep 2029 01:46:30 GMT", after: 400 * 86_400, sent: ""),
        Rule("5.6.5", "a=b; Secure", to: "http://www.example.com/a/b", sent: ""),
        Rule("5.6.5", "a=b; seCURE", to: "http://www.example.com/a/b", sent: ""),
        Rule("5.6.5", "a=b; Secure=no", to: "http://www.example.com/a/b", sent: ""),
        Rule("5.6.5", "a=b; Secure =x", to: "http://www.example.com/a/b", sent: ""),
        Rule("5.6.5", "a=b; Secure", sent: "a=b"),
        Rule("5.6.5", "a=b; \"Secure\"", to: "http://www.example.com/a/b", sent: "a=b"),
        Rule("5.6.5", "a=b; Secure x", to: "http://www.example.com/a/b", sent: "a=b"),
        Rule("5.6.6", "a=b; HttpOnly", sent: "a=b"), Rule("5.6.7", "a=b; SameSite=Strict", sent: "a=b"),
        Rule("5.6.7", "a=b; SameSite=lax", sent: "a=b"), Rule("5.6.7", "a=b; SameSite=whatever", sent: "a=b"),
    ]

    /// 5.4 and 5.7
    static let storage = [
        Rule("5.4", "__Secure-a=b; Secure", sent: "__Secure-a=b"), Rule("5.4", "__Secure-a=b", sent: ""),
        Rule("5.4", "__SeCuRe-a=b", sent: ""), Rule("5.4", "__Host-a=b; Secure; Path=/", sent: "__Host-a=b"),
        Rule("5.4", "__Host-a=b; Path=/", sent: ""), Rule("5.4", "__Host-a=b; Secure", sent: ""),
        Rule("5.4", "__Host-a=b; Secure; Path=/a", sent: ""),
        Rule("5.4", "__Host-a=b; Secure; Path=/; Domain=www.example.com", sent: ""),
        Rule("5.4", "__host-a=b; Secure; Path=/; Domain=example.com", sent: ""),
        Rule("5.4", "__Host-a=b; Secure", from: "https://example.com/", sent: ""),
        Rule("5.4", "__Hosta=b", sent: "__Hosta=b"),
        Rule("5.7, step 13", "a=b; Secure", from: "http://www.example.com/a/b", sent: ""),
        Rule("5.7, step 19", "a=b; SameSite=None", sent: ""),
        Rule("5.7, step 19", "a=b; SameSite=None; Secure", sent: "a=b"),
        Rule("5.7, step 22", "=__Host-a=b; Secure; Path=/", sent: ""),
        Rule("5.7, step 22", "__Secure-x; Secure", sent: ""),
        Rule("5.7, step 23", "a=b", "a=c", sent: "a=c"), Rule("5.7, step 23", "a=b", "x=y", "a=c", sent: "a=c; x=y"),
        Rule("5.7, step 23", "a=b; Path=/", "a=c; Path=/a", sent: "a=c; a=b"),
        Rule("5.7, step 23", "a=b; Domain=www.example.com", "a=c", sent: "a=b; a=c"),
        Rule("5.7, step 23", "a=b", "a=; Max-Age=0", sent: ""), Rule("5.7, step 23", "a=b", "A=c", sent: "a=b; A=c"),
        Rule("5.7, step 23", "a", "b", sent: "b"),
    ]

    /// 5.8.3
    static let retrieval = [
        Rule("5.8.3, step 2", "a=1; Path=/", "b=2; Path=/a", "c=3; Path=/a/b", sent: "c=3; b=2; a=1"),
        Rule("5.8.3, step 2", "z=1; Path=/", "a=2; Path=/", sent: "z=1; a=2"),
        Rule("5.8.3, step 2", "a=1; Domain=example.com; Path=/a", "b=2; Path=/a", sent: "a=1; b=2"),
        Rule("5.8.3, step 4", "a=1", "b", "c=", sent: "a=1; b; c="),
    ]
}
