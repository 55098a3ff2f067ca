import ErrandHTTP
import ErrandRedaction
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked) struct RedactorTests {
    @Test(
        "names look secret in any case, punctuation and encoding",
        arguments: [
            "token", "access_token", "X-API-Key", "PASSWORD", "pass%77ord", "session.id", "key", "csrf[a]",
            "%%70assword",
        ])
    func secretNames(name: String) { #expect(Redaction().isSecret(name)) }

    @Test("other names aren't secret", arguments: ["page", "keyboard", "monkey", "design", "q", "", "%"])
    func harmlessNames(name: String) { #expect(!Redaction().isSecret(name)) }

    @Test("public names of OAuth are shown, and their secret neighbors are masked") func oauth() {
        let shown = [
            "token_type", "TOKEN-TYPE", "token_type_hint", "issued_token_type", "authorization_endpoint",
            "token_endpoint",
            "device_authorization_endpoint", "pushed_authorization_request_endpoint", "end_session_endpoint",
            "token_endpoint_auth_methods_supported",
        ]
        for name in shown { #expect(!Redaction().isSecret(name), "\(name)") }
        for name in ["token", "access_token", "my_token_type", "authorization", "token_types", "session_endpoint"] {
            #expect(Redaction().isSecret(name), "\(name)")
        }
        var redactor = Redactor()
        let body =
            #"{"access_token":"canary","token_type":"Bearer","authorization_endpoint":"https://a.test/go?code=canary"}"#
        let json = redactor.json(Data(body.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(json.contains(#""token_type":"Bearer""#) && json.contains("https://a.test/go"))
    }

    @Test("rules can be added and removed, but credentials stay masked")
    func rules() {
        var redaction = Redaction()
        redaction.secretNames.insert("customer")
        redaction.shownNames.insert("pagetoken")
        redaction.shownHeaders.formUnion(["X-Trace", "Authorization"])
        #expect(redaction.isSecret("Customer-Id") && !redaction.isSecret("page_token"))
        #expect(!redaction.isSecret(HTTPHeaders.Field("x-trace", "1")))
        #expect(redaction.isSecret(HTTPHeaders.Field("Authorization", "1")))
        #expect(redaction.isSecret(HTTPHeaders.Field("Accept", "1", sensitive: true)))
        #expect(redaction.isSecret(HTTPHeaders.Field("X-Other", "1")))
    }

    @Test("a secret that one part names is masked in all other parts")
    func echoes() {
        var redactor = Redactor()
        let url = redactor.url("https://ada:pa%2Fssword@example.com/a?page=2&token=abc%2Bdefgh&x#frag")
        #expect(url == "https://•••@example.com/a?page=2&token=•••&x")
        let headers = redactor.headers(["Authorization": "Bearer 0123456789", "Accept": "a/b", "X-Own": "x"])
        #expect(headers.map(\.value) == ["•••", "a/b", "•••"])
        let echoed: HTTPHeaders = ["X-Echo": "got 0123456789 and abc+defgh", "Accept": "a/b"]
        #expect(redactor.masking(echoed).map(\.value) == ["got ••• and •••", "a/b"])
        #expect(redactor.masking(echoed.sensitive("X-Echo")).map(\.isSensitive) == [true, false])
        let json = redactor.json(Data(#"{"a":1,"auth":{"list":["in-a-list"],"n":1234567}}"#.utf8))
        #expect(json.map { String(decoding: $0, as: UTF8.self) } == #"{"a":1,"auth":"•••"}"#)
        #expect(redactor.form("a=1&&secret=form%20value&b") == "a=1&&secret=•••&b")
        for secret in ["pa/ssword", "abc+defgh", "0123456789", "in-a-list", "1234567", "form value"] {
            #expect(redactor.masking("<\(secret)\u{301}>") == "<•••\u{301}>", "\(secret)")
            #expect(redactor.masking(Data("\u{0}\(secret)\(secret)".utf8)) == Data("\u{0}••••••".utf8))
        }
        #expect(redactor.masking("list, harmless") == "list, harmless")
    }

    @Test("in 2,000 random texts, every secret is masked everywhere, and no other text is")
    func places() {
        var random = SystemRandomNumberGenerator()
        func text(_ count: Int) -> String {
            String((0..<count).map { _ in "abc".randomElement(using: &random) ?? "a" })
        }
        for _ in 0..<2_000 {
            let secret = text(Int.random(in: 6...9, using: &random))
            var redactor = Redactor()
            redactor.remember(secret)
            let body = text(Int.random(in: 0...40, using: &random))
            #expect(redactor.masking("\(body)-\(secret)-\(secret.dropLast())").hasSuffix("-•••-\(secret.dropLast())"))
            #expect((redactor.masking(body) == body) == !body.contains(secret))
        }
    }

    @Test("exchanges that are masked one after the other don't share their secrets")
    func followingExchanges() {
        var secrets = HeaderSecrets()
        let first: HTTPHeaders = ["Authorization": "Bearer first-token"]
        let second: HTTPHeaders = ["Authorization": "Bearer second-token"]
        let cookies: HTTPHeaders = ["Set-Cookie": "sid=cookie-value"]
        for _ in 0..<2 {
            let text = "first-token second-token cookie-value"
            #expect(secrets.redactor(knowing: first, nil).masking(text) == "••• second-token cookie-value")
            #expect(secrets.redactor(knowing: first, cookies).masking(text) == "••• second-token •••")
            #expect(secrets.redactor(knowing: second, [:]).masking(text) == "first-token ••• cookie-value")
            #expect(secrets.redactor(knowing: nil, nil).masking(text) == text)
        }
    }

    @Test("secrets that differ only in their bytes are different secrets")
    func equivalentSecrets() {
        // The ring as a sign, and as a letter with an accent: equal as strings, and equally long.
        let (sign, letter) = ("token-\u{212B}", "token-A\u{30A}")
        #expect(sign == letter && sign.utf8.count == letter.utf8.count)
        var secrets = HeaderSecrets()
        for (secret, other) in [(sign, letter), (letter, sign)] {
            let redactor = secrets.redactor(knowing: ["Authorization": secret], nil)
            #expect(redactor.masking("<\(secret)>").utf8.elementsEqual("<•••>".utf8))
            #expect(redactor.masking("<\(other)>").utf8.elementsEqual("<\(other)>".utf8))
        }
    }

    @Test("a name is masked alike in the first exchange and in later ones, among more names than are remembered")
    func repeatedNames() {
        var random = SystemRandomNumberGenerator()
        let parts = ["X-", "Accept", "token", "Trace", "API", "Key", "Date", "é", "auth", "or"]
        let names = (0..<200).map { number in
            let name = (0..<3).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            return HTTPHeaderName("\(number.isMultiple(of: 2) ? name : name.uppercased())\(number / 4)")
        }
        var secrets = HeaderSecrets()
        for _ in 0..<100 {
            var (request, response) = (HTTPHeaders(), HTTPHeaders())
            for _ in 0..<8 {
                let value = "value-\(Int.random(in: 0..<99, using: &random))"
                request.add(names.randomElement(using: &random) ?? .accept, value)
                response.add([.date, .accept, .server].randomElement(using: &random) ?? .age, "value-100")
            }
            request.set("X-API-Key", "value-of-key-1")
            var (known, fresh) = (secrets.redactor(knowing: request, response), Redactor())
            #expect(known.headers(request) == fresh.headers(request))
            #expect(known.headers(response) == fresh.headers(response))
            let text = (0..<100).map { "value-\($0)" }.joined(separator: ".") + "value-of-key-1"
            #expect(known.masking(text) == fresh.masking(text))
        }
    }

    @Test("the fields of a part are masked with all their continuation lines")
    func foldedFields() {
        func shown(_ head: String, _ redactor: inout Redactor) -> String? {
            let body = Data("--b\r\n\(head)\r\n\r\nopen\r\n--b--".utf8)
            guard case .shown(let data) = redactor.body(body, contentType: "multipart/mixed; boundary=b") else {
                return nil
            }
            let text = String(decoding: data, as: UTF8.self)
            guard text.hasPrefix("--b\r\n"), text.hasSuffix("\r\n--b--") else { return nil }
            return String(text.utf8.dropFirst(5).dropLast(7))
        }
        var redactor = Redactor()
        #expect(shown("X-Key: canary-1\r\n canary-2\n\tcanary-3", &redactor) == "X-Key: •••\r\n•••\n•••\r\n\r\nopen")
        // The secret elsewhere: unchanged, on one line, and in part.
        #expect(redactor.masking("<canary-1 canary-2\tcanary-3> <canary-3>") == "<•••> <•••>")
        // Scalars that Unicode combines with a blank or a colon into one character.
        #expect(shown("X-Key: canary-1\r\n \u{301}canary-2", &redactor) == "X-Key: •••\r\n•••\r\n\r\nopen")
        #expect(shown("X-Key:\u{301}canary-4", &redactor) == "X-Key: •••\r\n\r\nopen")
        // Lines that aren't fields hide the content too.
        #expect(
            shown("canary-5\r\nContent-Type: text/plain", &redactor) == "•••\r\nContent-Type: text/plain\r\n\r\n•••")
        #expect(
            shown("Content-Type: text/plain;\r\n charset=utf-8", &redactor)?.hasSuffix("=utf-8\r\n\r\nopen") == true)
        // Joining everything before each line would take hours.
        let lines = String(repeating: "\r\n canary-6-canary-6", count: 100_000)
        #expect(
            shown("X-Key: canary-6\(lines)", &redactor)
                == "X-Key: •••\(String(repeating: "\r\n•••", count: 100_000))\r\n\r\nopen")
    }

    @Test("JSON keeps every byte except secrets, truncated or not, and text that isn't JSON is refused")
    func json() {
        func masked(_ text: String) -> String? {
            var redactor = Redactor()
            return redactor.json(Data(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        for text in ["{ }\n", "[1.50,\t\"é\"]", #"{"a" : {"b":null}}"#, "", "7"] { #expect(masked(text) == text) }
        #expect(masked(#"{"pwd":"x","a":1}"#) == #"{"pwd":"•••","a":1}"#)
        #expect(masked(#"{"pwd":"half of i"#) == #"{"pwd":"•••""#)
        #expect(masked(#"{"pwd":["a","b"#) == #"{"pwd":"•••""#)
        #expect(masked(#"{"pwd":"#) == #"{"pwd":"#)
        #expect(masked(#"{"p\u0077d":1}"#) == #"{"p\u0077d":"•••"}"#)
        #expect(masked("}") == nil && masked(#"{"a" 1}"#) == nil && masked("[}") == nil)
        #expect(masked(String(repeating: "[", count: 10_000)) == nil)
    }

    @Test(
        "a pair's value is masked if its name is a secret's, in any order and truncated, in JSON and XML",
        arguments: [
            (#"{"name":"password","value":"canary"}"#, #"{"name":"password","value":"•••"}"#),
            (#"[{"value":"canary","name":"api_key"},{"value":"a","name":"b"}]"#, nil),
            (#"{"Key":"DB_PASSWORD","Value":"canary","a":1}"#, nil), (#"{"field":"pwd","values":["canary","b"]}"#, nil),
            (#"{"type":"password","id":"x","value":{"a":["canary"]}}"#, nil), (#"{"name":"pin","value":7777777}"#, nil),
            (#"{"value":7777777,"id":"pin","name":"pin"}"#, nil), (#"{"name":"token","value":"cana"#, nil),
            ("<member><name>password</name><value><string>canary</string></value></member>", nil),
        ] as [(String, String?)])
    func pairs(text: String, expected: String?) {
        var redactor = Redactor()
        let type = text.hasPrefix("<") ? "text/xml" : "application/json"
        guard case .shown(let bytes) = redactor.body(Data(text.utf8), contentType: type) else {
            return _ = Issue.record("left out")
        }
        let masked = String(decoding: bytes, as: UTF8.self)
        #expect(!masked.contains("cana") && !masked.contains("777") && masked.contains(Redaction.mask), "\(masked)")
        if let expected { #expect(masked == expected) }
        #expect(
            !redactor.masking("canary 7777777 end").contains(text.contains("canary") ? "canary" : "7777777")
                || text.hasSuffix("cana"))
    }

    @Test("pairs with harmless names are unchanged, and so is all text around a masked value")
    func harmlessPairs() {
        var redactor = Redactor()
        for text in [
            #"{"name":"page","value":"1"}"#, #"{"name":"my password","value":"1"}"#, #"[{"value":"1"},{"name":"pwd"}]"#,
            #"{"value":{"name":"pwd"},"x":1}"#, #"{"name":{"name":"pwd"},"value":1}"#, #"{"value":1,"name":2}"#,
        ] { #expect(redactor.json(Data(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == text) }
        let around = #"{"label":"Password","type":"password","value":"x","order":1}"#
        #expect(
            redactor.json(Data(around.utf8)).map { String(decoding: $0, as: UTF8.self) }
                == around.replacing("\"x\"", with: "\"•••\""))
        let deep = String(repeating: #"{"name":"pwd","v":["#, count: 100) + String(repeating: "]}", count: 100)
        #expect(
            redactor.json(Data(deep.utf8)).map { String(decoding: $0, as: UTF8.self) } == #"{"name":"pwd","v":"•••"}"#)
    }

    @Test("a failure has a name without secrets")
    func failures() {
        struct Own: Error { let secret = "x" }
        #expect(Redaction.name(of: ErrandError(.timedOut, "late")) == "timedOut")
        #expect(Redaction.name(of: Own()) == "Own")
    }

    private func body(_ text: String, _ type: String?) -> String? {
        var redactor = Redactor()
        guard case .shown(let data) = redactor.body(Data(text.utf8), contentType: type) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    @Test(
        "text that isn't JSON is refused by methods for JSON, and left out of a body of that type",
        arguments: [
            "hello", "{a:1}", "{'a':1}", #"{"a":1,}"#, "[1,]", "[1 2]", #"{"a":1 "b":2}"#, #"{"a":1}{"a":2}"#, "1 2",
            "01", "+1", "nul l", "NaN", #"{"a"}"#, #"{1:2}"#, #"{,}"#, "[,1]", #"["a":1]"#, #"{"a":}"#, #"{"pwd":}"#,
            "<a/>", "a=1&b=2", "\"a\nb\"", #""\x""#, "[1]]", "tru1", #"{"pwd":"x" 1}"#,
        ])
    func strictJSON(text: String) {
        var redactor = Redactor()
        #expect(redactor.json(Data(text.utf8)) == nil)
        #expect(body(text, "application/json") == nil && body(text, "application/problem+json") == nil)
    }

    @Test(
        "JSON that is truncated anywhere is JSON as far as it goes",
        arguments: [#"{"a":[1,-2.5e+3,true,null,"x\u00e9\n",{}],"b":{"c":[]},"pwd":[1,{"x":"secret"}]}"#])
    func cutJSON(text: String) {
        for count in 0...text.utf8.count {
            var redactor = Redactor()
            let masked = redactor.json(Data(text.utf8.prefix(count)))
            #expect(masked != nil, "\(count)")
            #expect(masked.map { !String(decoding: $0, as: UTF8.self).contains("sec") } == true)
        }
        #expect(body("\u{FEFF}{\"pwd\":\"x\"}", "application/json") == "\u{FEFF}{\"pwd\":\"•••\"}")
    }

    @Test(
        "a body without a type is masked by its content, and left out if its fields can't be identified",
        arguments: [
            ("a=1&password=hunter2", "a=1&password=•••"), ("password=my+secret%20x&b", "password=•••&b"),
            (#"{"pwd":"x"}"#, #"{"pwd":"•••"}"#), ("{\"pwd\":1}\n{\"pwd\":2}", "{\"pwd\":\"•••\"}\n{\"pwd\":\"•••\"}"),
            (#"{"a":1}}{"pwd":"x"}"#, nil), ("<a pwd='x'/>", "<a pwd='•••'/>"),
            ("just words = here", "just words = here"),
            ("=x", "=x"), ("", ""), ("a", "a"),
        ] as [(String, String?)])
    func untyped(text: String, expected: String?) {
        #expect(body(text, nil) == expected)
        #expect(body(text, "") == expected)
    }

    @Test("a form without a type in another charset is left out if it contains a secret")
    func latinForms() {
        var redactor = Redactor()
        let name = Data([0x6E, 0x3D, 0xFC, 0x26])
        #expect(redactor.body(name + Data("a=1".utf8), contentType: nil) == .shown(name + Data("a=1".utf8)))
        guard case .omitted = redactor.body(name + Data("password=x".utf8), contentType: nil) else {
            Issue.record("it is shown")
            return
        }
    }

    @Test(
        "in XML and HTML, secret elements and secret attributes are masked",
        arguments: [
            ("<a>1</a>", "<a>1</a>"), ("<a><password>hunter2</password>x</a>", "<a><password>•••</password>x</a>"),
            ("<s:Password Type=\"t\">\n hunter2\n</s:Password>", "<s:Password Type=\"t\">\n •••\n</s:Password>"),
            ("<token><b>x</b><token>y</token></token><c>z</c>", "<token>•••</token><c>z</c>"),
            ("<token/><c>z</c>", "<token/><c>z</c>"), ("<token>half of i", "<token>•••"),
            ("<a apiKey='x' b=\"y\" token=z>t</a>", "<a apiKey='•••' b=\"y\" token=•••>t</a>"),
            ("<token><![CDATA[a<b]]></token>", "<token>•••</token>"), ("<![CDATA[a<b]]>", "<![CDATA[a<b]]>"),
            (
                "<key>password</key>\n<string>x</string><key>a</key>",
                "<key>•••</key>\n<string>•••</string><key>•••</key>"
            ),
            ("<input name=\"password\" value=\"x\"> b", "<input name=\"password\" value=\"•••\"> b"),
            ("<p name='token'>x</p>y", "<p name='token'>•••</p>y"),
            ("<!-- <token>x</token> -->", "<!-- <token>•••</token> -->"),
            ("<?xml version='1.0'?><a b='c'/>", "<?xml version='1.0'?><a b='c'/>"), ("1 < 2 <", "1 < 2 <"),
            ("<a b='", "<a b='"),
            ("<tokens>1</tokens>", "<tokens>•••</tokens>"), ("<a\npwd = 'x'\n>", "<a\npwd = '•••'\n>"),
        ])
    func markup(text: String, expected: String) {
        for type in ["application/xml", "text/xml; charset=utf-8", "application/soap+xml", "text/html"] {
            #expect(body(text, type) == expected)
        }
    }

    @Test("a secret of XML is masked elsewhere, and XML with zero bytes, as in UTF-16, is left out")
    func markupElsewhere() {
        var redactor = Redactor()
        _ = redactor.body(Data("<a><pwd>hunter2</pwd></a>".utf8), contentType: "text/xml")
        #expect(redactor.masking("of hunter2") == "of •••")
        #expect(body("<\0p\0w\0d\0>\0", "text/xml") == nil)
        let deep = String(repeating: "<token>", count: 100_000)
        #expect(body(deep, "text/xml") == "<token>•••")
    }

    @Test("a form part is secret for every way in which a server reads the backslashes of its name")
    func backslashes() {
        for name in [#"pass\word"#, #"x\"; password"#, "password"] {
            let part = "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\nhunter2\r\n--b--"
            #expect(body(part, "multipart/form-data; boundary=b")?.contains("hunter2") == false, "\(name)")
        }
    }
}
