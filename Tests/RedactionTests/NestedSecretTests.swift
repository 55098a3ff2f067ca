import ErrandHTTP
import ErrandRedaction
import Foundation
import Testing

/// Secrets that are a level deeper than their fields; the reports are in Tests/Lessons.md.
@Suite("Secrets within values", .leakChecked) struct NestedSecretTests {
    private func shown(_ text: String, _ type: String?) -> String? {
        var redactor = Redactor()
        guard case .shown(let data) = redactor.body(Data(text.utf8), contentType: type) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    @Test(
        "secrets in a JSON string that contains JSON, a URL or a form are masked, and the rest stays",
        arguments: [
            (
                #"{"body":"{\"password\":\"canary-1\",\"a\":\"\\n\"}"}"#,
                #"{"body":"{\"password\":\"•••\",\"a\":\"\\n\"}"}"#
            ),
            (#"{"body":" [{\"api_key\":\"canary-1\"}]","b":1}"#, #"{"body":" [{\"api_key\":\"•••\"}]","b":1}"#),
            (
                #"["{\"x\":\"{\\\"token\\\":\\\"canary-1\\\"}\"}"]"#, #"["{\"x\":\"{\\\"token\\\":\\\"•••\\\"}\"}"]"#
            ),
            (
                #"{"next":"https://a.test/x?access_token=canary-1&b=2"}"#,
                #"{"next":"https://a.test/x?access_token=•••&b=2"}"#
            ),
            (#"{"next":"https:\/\/a.test\/x?sig=canary-1"}"#, #"{"next":"https://a.test/x?sig=•••"}"#),
            (#"{"body":"user=a&password=canary-1"}"#, #"{"body":"user=a&password=•••"}"#),
            (#"{"value":"{\"token\":\"canary-1\"}","name":"password"}"#, #"{"value":"•••","name":"password"}"#),
            (#"{"body":"{\"password\":\"canary-1"#, #"{"body":"{\"password\":\"•••\""#),
        ])
    func inJSON(text: String, expected: String) { #expect(shown(text, "application/json") == expected) }

    @Test(
        "a string without secrets keeps its bytes",
        arguments: [
            #"{"a":"{\"b\":1}","c":"[1, 2"}"#, #"{"a":"https:\/\/a.test\/x?b=1#top"}"#, #"{"a":"x=1&y=2","b":"a = b"}"#,
            #"{"a":"[INFO] password: no","b":"{","c":"=","d":"{\"password\""}"#,
        ])
    func harmless(text: String) { #expect(shown(text, "application/json") == text) }

    @Test(
        "an item is masked completely if its value contains a secret",
        arguments: [
            ("payload=%7B%22token%22%3A%22canary-1%22%7D&a=1", "payload=•••&a=1"),
            ("next=https%3A%2F%2Fa.test%2F%3Faccess_token%3Dcanary-1", "next=•••"),
            ("next=https%253A%252F%252Fa.test%252F%253Faccess_token%253Dcanary-1", "next=•••"),
            ("proxy=http://ada:canary-1@p.test:1/&a=1", "proxy=•••&a=1"),
            ("proxy=https%3A%2F%2Fcanary-1%40p.test", "proxy=•••"),
            ("to=https%3A%2F%2Fa.test%2Fada%40b.test&cc=ada%40b.test", nil), ("a=1;token=canary-1", "a=•••"),
            ("b=1&next=/x?sid=canary-1", "b=1&next=•••"),
            ("%7B%22token%22%3A%22canary-1%22%7D", "•••"), ("a={\"password\" : \"canary-1\"}", "a=•••"),
            ("a=%7B%22b%22%3A1%7D&c=https%3A%2F%2Fa.test%2F%3Fd%3D1&e=YWJj%3D%3D", nil), ("time=10:20:30&x=a;b", nil),
        ] as [(String, String?)])
    func inItems(text: String, expected: String?) {
        #expect(shown(text, "application/x-www-form-urlencoded") == expected ?? text)
        #expect(Redaction().url("https://a.test/x?\(text)") == "https://a.test/x?\(expected ?? text)")
        var redactor = Redactor()
        _ = redactor.form(text)
        // A value that the server repeats is masked, too.
        if expected != nil, text.contains("%22") {
            #expect(!redactor.masking(#"got {"token":"canary-1"}"#).contains("canary-1"))
        }
    }

    @Test(
        "URLs in XML and HTML lose the secrets of their queries",
        arguments: [
            (
                "<a href=\"https://a.test/?x=1&amp;sig=canary\">b</a>",
                "<a href=\"https://a.test/?x=1&amp;sig=•••\">b</a>"
            ),
            ("<next> https://a.test/?token=canary </next>", "<next> https://a.test/?token=••• </next>"),
            ("<a href='https://a.test/?x=1#top'>https://a.test/?x=1#top</a>", nil),
        ] as [(String, String?)])
    func inXML(text: String, expected: String?) { #expect(shown(text, "text/xml") == expected ?? text) }

    @Test(
        "secrets of URLs are masked anywhere in a text: with any scheme, relative, or between other words",
        arguments: [
            ("https://ada:canary@a.test/x", "https://•••@a.test/x"),
            ("wss://canary@a.test:1/x", "wss://•••@a.test:1/x"),
            ("HTTPS://A.test/?token=canary", "HTTPS://A.test/?token=•••"),
            ("com.example.app:/in?code=canary&x=1", "com.example.app:/in?code=•••&x=1"),
            ("/items?page=2&access_token=canary", "/items?page=2&access_token=•••"),
            ("//a.test/x?sig=canary", "//a.test/x?sig=•••"), ("?token=canary", "?token=•••"),
            ("https://a.test/in#x=1&access_token=canary", "https://a.test/in#x=1&access_token=•••"),
            ("GET https://a.test/x?api_key=canary failed", "GET https://a.test/x?api_key=••• failed"),
            (
                "Client error '401 Unauthorized' for url 'http://admin:canary@radarr.test:7878/api/v3/command'",
                "Client error '401 Unauthorized' for url 'http://•••@radarr.test:7878/api/v3/command'"
            ),
            ("(see /x?token=canary).", "(see /x?token=•••)."),
            ("a /x?b=1 /y?token=canary /z", "a /x?b=1 /y?token=••• /z"),
            (
                "stat (path: /tmp/foo?authz=1&token=canary, flags: none)",
                "stat (path: /tmp/foo?authz=•••&token=•••, flags: none)"
            ),
            ("ask ada@a.test?", nil), ("really? x=1", nil), ("https://a.test/a@b?page=1#top", nil), ("/x?y==", nil),
            ("a?b:c=d", nil), ("", nil),
        ] as [(String, String?)])
    func inTexts(text: String, expected: String?) {
        let expected = expected ?? text
        #expect(shown("\n" + text, "text/plain") == "\n" + expected)
        #expect(shown("- \(text)", nil) == "- \(expected)")
        let quoted = text.replacing("/", with: "\\/")
        let shownJSON = shown(#"{"message":"\#(quoted)","a":1}"#, "application/json")
        #expect(shownJSON == #"{"message":"\#(expected == text ? quoted : expected)","a":1}"#)
        #expect(shown("<a><b>\(text)</b></a>", "application/xml") == "<a><b>\(expected)</b></a>")
        #expect(shown("<a href=\"\(text)\">b</a>", "text/html") == "<a href=\"\(expected)\">b</a>")
        let spaces = shown(#"["https://a.test/?q=a b&token=canary"]"#, "application/json")
        #expect(spaces == #"["https://a.test/?q=a b&token=•••"]"#)
        var redactor = Redactor()
        _ = redactor.body(Data("x /x?token=canary-1".utf8), contentType: "text/plain")
        #expect(redactor.masking("canary-1") == "•••")
    }

    @Test("a text is masked although it's cut within a character, and bytes that aren't text are unchanged")
    func cutTexts() {
        var redactor = Redactor()
        let text = Array("GET /x?token=canary ä€".utf8)
        for rest in 0..<3 {
            let masked = Array("GET /x?token=••• ä€".utf8).dropLast(rest)
            #expect(redactor.body(Data(text.dropLast(rest)), contentType: "text/plain") == .shown(Data(masked)))
        }
        let bytes = Data([0xFF, 0xFE] + text)
        #expect(redactor.body(bytes, contentType: "text/plain") == .shown(bytes))
        #expect(redactor.body(Data(text), contentType: "image/png") == .shown(Data(text)))
    }

    @Test(
        "values after secret names, and credentials after a scheme, are masked in a text, and the rest stays",
        arguments: [
            ("connecting with token=ghp_canary1 to a", "connecting with token=••• to a"),
            ("password=canary", "password=•••"), ("a: password = canary, user = b", "a: password = •••, user = b"),
            ("HMC_passwd=canary *_passwd=canary,123", "HMC_passwd=••• *_passwd=•••"),
            ("token=canary,status=500", "token=•••,status=500"),
            ("Server=db;Password=canary;Timeout=5", "Server=db;Password=•••;Timeout=5"),
            ("{:password=>'canary 1', x: 2}", "{:password=>'•••', x: 2}"), ("token := canary", "token := •••"),
            ("secret='can\\'ary' x", "secret='•••' x"),
            ("got 'token': 'canary', and more", "got 'token': '•••', and more"),
            ("password: hunter2canary.", "password: •••."), ("api-key: canary1", "api-key: •••"),
            ("x-goog-api-key=canary", "x-goog-api-key=•••"), ("x-access-token: canary1", "x-access-token: •••"),
            ("Authorization: Bearer canary1 (401)", "Authorization: Bearer ••• (401)"),
            ("authorization=bearer canary1", "authorization=bearer •••"),
            ("Authorization: Basic YWRhOmxvdmVsYWNl", "Authorization: Basic •••"),
            ("Authorization: token canary1", "Authorization: token •••"),
            ("Proxy-Authorization: Digest username='ada', response='canary'", "Proxy-Authorization: Digest •••"),
            ("Cookie: a=canary1; b=canary2", "Cookie: •••"), ("sent Bearer eyJcanary1.x", "sent Bearer •••"),
            ("curl -H 'x-api-key: canary1' /x", "curl -H 'x-api-key: •••' /x"),
            ("GET /x?token=canary with session=canary", "GET /x?token=••• with session=•••"),
            ("password: must not be empty", nil), ("token: Expired. code: 404", nil), ("if token == nil", nil),
            ("the authorization model is open", nil), ("Bearer authentication is required", nil),
            ("basic support: token = null, secret=[REDACTED]", nil), ("session at 12:30:45", nil),
            ("auth fixture, token validation and basic auth: ok", nil), ("PASS: a test of sessions", nil),
            ("auth:auth:token canary1", "auth:auth:token •••"), ("key: {a: 1}", nil), ("state::open", nil),
            ("a = b: c", nil), ("=", nil), ("token=", nil), ("token:", nil),
        ] as [(String, String?)])
    func pairs(text: String, expected: String?) {
        let expected = expected ?? text
        #expect(shown("- \(text)", "text/plain") == "- \(expected)")
        #expect(shown("[info] \(text)", nil) == "[info] \(expected)")
        #expect(shown("note: \(text)", "application/yaml") == "note: \(expected)")
        let quoted = text.replacing("\\", with: "\\\\")
        let masked = expected.replacing("\\", with: "\\\\")
        #expect(shown(#"{"message":"- \#(quoted)"}"#, "application/json") == #"{"message":"- \#(masked)"}"#)
        #expect(shown(#"{"message":"[info] \#(quoted)"}"#, "application/json") == #"{"message":"[info] \#(masked)"}"#)
        #expect(shown("<a>- \(text)</a>", "text/xml") == "<a>- \(expected)</a>" || text.contains(">"))
        // Names in a program's source aren't names of values.
        #expect(shown("- \(text)", "text/javascript") == "- \(text)")
    }

    @Test("names of JSON within a sentence count, whether their quotation marks are escaped or not")
    func pairsInQuotes() {
        #expect(shown(#"got {"token":"canary 1","a":1} from b"#, nil) == #"got {"token":"•••","a":1} from b"#)
        let escaped = #"got {\"token\":\"can\\\"ary\",\"a\":1} from b"#
        #expect(shown(escaped, nil) == #"got {\"token\":\"•••\",\"a\":1} from b"#)
        #expect(shown(#"{"m":"got \#(escaped.dropFirst(4))"}"#, "application/json")?.contains("ary") == false)
        #expect(shown("status=401 No token=canary a=b", nil) == "status=401 No token=••• a=b")
        #expect(
            shown(#"["level=info msg='a b' token=canary"]"#, "application/json")
                == #"["level=info msg='a b' token=•••"]"#)
        #expect(shown(#"got {"token":"cana"#, nil) == #"got {"token":"•••"#)
        #expect(
            shown("GET / HTTP/1.1\r\nCookie: a=canary1\r\nHost: b\r\n", "message/http")
                == "GET / HTTP/1.1\r\nCookie: •••\r\nHost: b\r\n")
    }

    @Test(
        "megabytes without a secret are read in linear time, whatever they look like",
        arguments: [
            "auth:", "auth:,", "auth: digest x ", "token=\"", "token=*;", "token: \\", "AUTH:", "bearer ", "Basic ",
            "://", "a://b:c@", "\"password", "password '", "identified by '", "'x-api-key',", "curl -u ",
            "curl -u \"a ", "--token ", "token: | # ", "token: |\n", "token: |\r", "sk-", "LS0tLS1CRUdJTi+",
            "-----BEGIN ",
        ])
    func longTexts(part: String) {
        let text = "- " + String(repeating: part, count: 250_000 / part.utf8.count)
        guard let masked = shown(text, "text/plain") else { return #expect(Bool(false), "the text is left out") }
        #expect(masked.hasPrefix("- ") && masked.utf8.count <= text.utf8.count * 3)
    }

    @Test(
        "a megabyte of broken markup is masked in linear time",
        arguments: ["<![CDATA[", "<![CDATA[]]>", "<password>"])
    func longMarkup(part: String) {
        let text = String(repeating: part, count: 250_000 / part.utf8.count)
        let masked = shown("<password>canary" + text, "text/xml") ?? ""
        #expect(masked.hasPrefix("<password>•••") && !masked.contains("canary"))
    }

    @Test(
        "a megabyte of JSON with parts of keys is masked in linear time",
        arguments: [#""d":"canary","#, #""a":{"d":"canary"},"#])
    func longJSON(part: String) {
        let text = "{" + String(repeating: part, count: 250_000 / part.utf8.count) + #""kty":"EC"}"#
        let masked = shown(text, "application/json") ?? ""
        #expect(masked.hasSuffix(#""kty":"EC"}"#) && masked.contains("canary") == part.contains("{"))
    }

    @Test("counts of the tokens of language models are shown, and tokens aren't")
    func counts() {
        let usage =
            #"{"max_tokens":9,"usage":{"prompt_tokens":1,"totalTokenCount":2,"input_tokens_details":{"cached_tokens":3}}}"#
        #expect(shown(usage, "application/json") == usage)
        #expect(
            shown(#"{"tokens":["canary"],"max_tokens":9}"#, "application/json") == #"{"tokens":"•••","max_tokens":9}"#)
        #expect(shown("- max_tokens=9 tokens=canary", nil) == "- max_tokens=9 tokens=•••")
    }

    @Test("a masked value is masked wherever it occurs, if it looks like a secret")
    func repeatedPairs() {
        var redactor = Redactor()
        _ = redactor.body(Data("- token=canary-12 mode=x session=unlocked".utf8), contentType: "text/plain")
        #expect(redactor.masking("canary-12 unlocked") == "••• unlocked")
    }

    @Test(
        "the value after the name of a header field is masked in a list, and lists of names stay",
        arguments: [
            (#"["Host","a","Authorization","Bearer canary"]"#, #"["Host","a","Authorization","•••"]"#),
            (#"{"rawHeaders":["cookie","canary","accept","b"]}"#, #"{"rawHeaders":["cookie","•••","accept","b"]}"#),
            (#"[["Set-Cookie","canary"],["x-api-key", "canary"]]"#, #"[["Set-Cookie","•••"],["x-api-key", "•••"]]"#),
            (#"["Authorization",["canary"]]"#, nil), (#"["x-api-key"]"#, nil), (#"{"a":["x-api-key"],"b":"c"}"#, nil),
            (#"{"required":["password","email","token"]}"#, nil), (#"["code","token","id_token"]"#, nil),
        ] as [(String, String?)])
    func lists(text: String, expected: String?) {
        #expect(shown(text, "application/json") == expected ?? text)
    }

    @Test("parameters of a path are masked like items of a query")
    func pathParameters() {
        let redaction = Redaction()
        #expect(
            redaction.url("https://a.test/cart;jsessionid=canary;v=1/item;lang=de?x=1")
                == "https://a.test/cart;jsessionid=•••;v=1/item;lang=de?x=1")
        #expect(redaction.url("https://a.test/a;b/c;d=1#f") == "https://a.test/a;b/c;d=1")
        var redactor = Redactor()
        _ = redactor.url("https://a.test/cart;jsessionid=canary-session")
        #expect(redactor.masking("canary-session") == "•••")
    }

    @Test("a form is recognized although its type is text/plain")
    func plainForm() {
        #expect(shown("user=bob&password=canary", "text/plain") == "user=bob&password=•••")
        #expect(shown("a = b\npassword", "text/plain; charset=utf-8") == "a = b\npassword")
    }

    @Test(
        "names of passwords, keys and codes that other logs have shown",
        arguments: [
            "pass", "user_pass", "passcode", "subscription-key", "accountKey", "shared_key", "encryption_key",
            "signingKey", "master_key", "SAMLResponse", "connection_string", "mnemonic", "recovery_codes",
            "backup_code",
            "verification_code", "securityCode", "totp", "pw",
        ])
    func names(name: String) { #expect(Redaction().isSecret(name)) }

    @Test(
        "similar names are shown",
        arguments: ["passenger", "bypass", "compass", "public_key", "key_id", "pwa", "zip_code"])
    func similarNames(name: String) { #expect(!Redaction().isSecret(name)) }
}
