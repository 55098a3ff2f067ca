import ErrandEssentials
import ErrandHTTP
import ErrandRedaction
import ErrandTestSupport
import Testing

/// What users of other logs, recordings and proxies have reported; the reports are in Tests/Lessons.md.
@Suite("Secrets in daily use", .endsInTime, .leakChecked) struct RedactionReportTests {
    private func shown(_ text: String, _ type: String?) -> String? {
        var redactor = Redactor()
        guard case .shown(let data) = redactor.body(Data(text.utf8), contentType: type) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: Names

    @Test(
        "an ordinary word that contains the letters of a secret's name isn't secret",
        arguments: [
            "author", "author_name", "authorType", "authorAgentId", "co-authors", "authority", "authored_at", "monkey",
            "keyboard", "className", "class_names", "businessName", "processName", "access_number", "addressNumber",
            "wifi_bandwidth", "secretary", "passkeys_supported",
        ])
    func ordinaryNames(name: String) {
        #expect(!Redaction().isSecret(name))
        #expect(shown(#"{"\#(name)":"Ada"}"#, "application/json") == #"{"\#(name)":"Ada"}"#)
    }

    @Test(
        "a name with such a word is secret if it has the name of a secret as well",
        arguments: [
            "auth", "authorization", "Authorisation", "x-authorize", "oauth", "authz", "basic_auth", "author_token",
            "author_auth", "auth_author", "user_secret_details", "ssn", "customerSSN", "spouse_ssn", "class_ssn",
            "iban", "payer_iban", "secret", "secretary_password", "ADSB_STATE_SSH_KEY", "app_key", "applicationKey",
            "consumer_key", "licenseKey",
            "passkey", "api%5Fkey", "%41piKey", "%6Awt", "pw",
        ])
    func secretNames(name: String) { #expect(Redaction().isSecret(name)) }

    @Test("an ordinary word is secret if the app's rules have it")
    func ownNames() {
        var redaction = Redaction()
        redaction.secretNames.insert("author")
        #expect(redaction.isSecret("author_name") && redaction.isSecret("auth") && !redaction.isSecret("className"))
        redaction.secretNames = ["name"]
        #expect(redaction.isSecret("author_name") && redaction.isSecret("className") && !redaction.isSecret("author"))
    }

    @Test("header fields with credentials are masked in any case")
    func fields() {
        for name in [
            "AUTHORIZATION", "proxy-authorization", "Proxy-Authorization", "COOKIE", "set-cookie", "X-API-Key",
        ] {
            #expect(Redaction().isSecret(HTTPHeaders.Field(HTTPHeaderName(name), "x")))
        }
    }

    // MARK: Texts

    @Test(
        "secrets in a text are masked whole, and the words around them stay",
        arguments: [
            ("an exception with a password: password123#", "an exception with a password: •••"),
            ("password:dkvnwkaxicnwekfik", "password:•••"), ("a password:dkvnwkaxicnwekfik;b", "a password:•••;b"),
            ("Requirement is not authorization: release only to the authorized outcome.", nil),
            ("see com.example.app.identifier1 and a.b.c, by author: Ada1", nil),
            ("token=abcdefg&foo=bar", "token=•••&foo=bar"), ("appid=wx123&secret=abc123", "appid=wx123&secret=•••"),
            ("authorization=Basic%20dXNlcjpwYXNz&model=gpt-5.5", "authorization=•••&model=gpt-5.5"),
            ("<x-api-key>secret123456</x-api-key>", "<x-api-key>•••</x-api-key>"),
            ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic •••"),
            ("Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==", "Proxy-Authorization: Basic •••"),
            ("Cookie: session=syntheticAlpha; sid=syntheticBeta", "Cookie: •••"),
            ("> Cookie: a=b; prefs=two\n> c: d", "> Cookie: •••\n> c: d"),
            ("Set-Cookie: session=topsecretvalue12345; HttpOnly; Path=/", "Set-Cookie: •••"), ("cookie: no", nil),
            ("error code: MEMORY_CONSTRAINT_VIOLATION_ORDER", nil), ("statusCode: 401", nil),
            ("  wordpressPassword: 'abc123def'\n  a: b", "  wordpressPassword: '•••'\n  a: b"),
            ("to wss://user:p@ss@host.test/ws", "to wss://•••@host.test/ws"),
            (
                "from: postgres://user:Superp@$$W0rd01@db_host:5432/db_name",
                "from: postgres://•••@db_host:5432/db_name"
            ),
            ("at postgresql://my_name:my/password@/my_db", "at postgresql://•••@/my_db"),
            ("to redis://:canary@cache.test/0", "to redis://•••@cache.test/0"),
            ("https://a.test:443/a@b?c=d", nil), ("https://a.test/b:c@d", nil), ("GET https://a.test/account/me", nil),
            // Without a name, a token of a path isn't known.
            ("https://a.test/bot123:ABC-DEF/sendMessage", nil),
            (
                "https://a.test/x?api%5Fkey=canary&%41piKey=canary&%6Awt=canary&q=a%20b&a=2",
                "https://a.test/x?api%5Fkey=•••&%41piKey=•••&%6Awt=•••&q=a%20b&a=2"
            ),
            (
                "Invalid (missing secret): <a href='otpauth://totp/a.test:b?digits=6&amp;secret=CANARY7X'>c</a>",
                "Invalid (missing secret): <a href='otpauth://totp/a.test:b?digits=6&amp;secret=•••'>c</a>"
            ),
        ] as [(String, String?)])
    func texts(text: String, expected: String?) {
        let masked = shown(text, "text/plain")
        #expect(masked == expected ?? text)
        #expect(
            !text.hasPrefix("<") && !text.contains("\n") ? shown("- " + text, nil) == "- " + (expected ?? text) : true)
    }

    @Test(
        "a private key in a text is masked, with or without its end, and other blocks stay",
        arguments: [
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIICanaryAAA\nAgMCanaryEAA\n-----END RSA PRIVATE KEY-----\nb",
                "a\n-----BEGIN RSA PRIVATE KEY-----•••-----END RSA PRIVATE KEY-----\nb"
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIICanary", "-----BEGIN PRIVATE KEY-----•••"),
            (
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nCanary\n-----END ENCRYPTED PRIVATE KEY-----",
                "-----BEGIN ENCRYPTED PRIVATE KEY-----•••-----END ENCRYPTED PRIVATE KEY-----"
            ),
            (
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYCanary\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
                "-----BEGIN PGP PRIVATE KEY BLOCK-----•••-----END PGP PRIVATE KEY BLOCK-----"
            ),
            ("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", nil),
            ("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", nil), ("-----BEGIN PRIVATE KEY", nil),
        ] as [(String, String?)])
    func privateKeys(text: String, expected: String?) {
        let expected = expected ?? text
        #expect(shown("log: \(text)", "text/plain") == "log: \(expected)")
        let lines = text.replacing("\n", with: "\\n")
        let json = shown(#"{"data":"\#(lines)","a":1}"#, "application/json")
        #expect(json?.contains("anary") == false && json?.contains("•••") == expected.contains("•••"), "\(json ?? "")")
        let nested = shown(#"{"data":"{\"x\":\"\#(lines.replacing("\\", with: "\\\\"))\"}"}"#, "application/json")
        #expect(nested?.contains("anary") == false, "\(nested ?? "")")
        #expect(shown("<a>\(text)</a>", "text/xml") == "<a>\(expected)</a>")
    }

    @Test(
        "a JSON Web Token is masked wherever it's in a text, and other words with dots stay",
        arguments: [
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Y2FuYXJ5 from cache", "got ••• from cache"),
            ("eyJhbGciOiJSU0EifQ.Y2FuYXJ5.YQ.YQ.Y2FuYXJ5", "•••"), ("(eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.)", "(•••)"),
            ("eyJ.a.b and eyJhbGciOiJIUzI1NiJ9", nil), ("keyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.YQ", nil),
            ("eyJhbGciOiJIUzI1NiJ9.png", nil),
        ] as [(String, String?)])
    func tokens(text: String, expected: String?) {
        let expected = expected ?? text
        #expect(shown(text, "text/plain") == expected)
        let json = #"{"access":"\#(text)","refresh":1}"#
        #expect(shown(json, "application/json") == #"{"access":"\#(expected)","refresh":1}"#)
        #expect(shown("<a b='\(text)'>\(text)</a>", "text/html") == "<a b='\(expected)'>\(expected)</a>")
    }

    // MARK: Bodies

    @Test(
        "fields are masked in any shape of a body",
        arguments: [
            (
                #"[{"a":"b","password":"canary"},{"api_key":7}]"#, #"[{"a":"b","password":"•••"},{"api_key":"•••"}]"#,
                nil
            ),
            (#"{"code":"ECONNRESET","statusCode":401}"#, #"{"code":"•••","statusCode":401}"#, "application/json"),
            (
                #"{"headers":{"x-api-key":"a","Cookie":"session=b; c=d","Accept":"e"}}"#,
                #"{"headers":{"x-api-key":"•••","Cookie":"•••","Accept":"e"}}"#, "application/json"
            ),
            (#"{"pw":"mysecret"}"#, #"{"pw":"•••"}"#, "application/json"),
            (#"{"user":{"email":"a@b.test","password":"x"}}"#, #"{"user":{"email":"a@b.test","password":"•••"}}"#, nil),
            (#"{"passwords":["some","thing"],"b":1}"#, #"{"passwords":"•••","b":1}"#, "application/json"),
            (#"{"password":"ab\"cd","b":1}"#, #"{"password":"•••","b":1}"#, "application/json"),
            (#"{"password":12345}"#, #"{"password":"•••"}"#, "application/json"),
            (#"{"password":"canary"}"#, #"{"password":"•••"}"#, "application/octet-stream"),
            (#"{"password":"canary"}"#, #"{"password":"•••"}"#, "text/html"),
            (
                "grant_type=authorization_code&code=a&code_verifier=b&client_assertion=c&refresh_token=d",
                "grant_type=authorization_code&code=•••&code_verifier=•••&client_assertion=•••&refresh_token=•••",
                "application/x-www-form-urlencoded"
            ),
            ("api%3Akey=SuperSecretP%40ssword&a=1", "api%3Akey=•••&a=1", "application/x-www-form-urlencoded"),
            (
                #"mutation { signIn(email: "ada", password: "canary") { email } }"#,
                #"mutation { signIn(email: "ada", password: "•••") { email } }"#, "application/graphql"
            ),
            (
                #"{"query":"mutation  {\n  signIn(email: \"test\", password: \"test\") {\n email}}","variables":{}}"#,
                #"{"query":"mutation  {\u000a  signIn(email: \"test\", password: \"•••\") {\u000a email}}","variables":{}}"#,
                "application/json"
            ),
        ] as [(String, String, String?)])
    func bodies(text: String, expected: String, type: String?) { #expect(shown(text, type) == expected) }

    @Test("a body that isn't JSON, although its type says so, isn't shown with its password")
    func brokenJSON() {
        let text = "{\n\"username\":\"abc.pqr\",\n\"role\": \"admin\"\n\"password\": \"Abc@123\"\n}"
        for type in ["application/json", "text/plain", "application/octet-stream", nil] {
            #expect(shown(text, type)?.contains("Abc@123") != true)
        }
    }

    @Test("parts of a form are masked although the type is missing, or its parameters are written oddly")
    func multipart() {
        for end in ["\n", "\r\n"] {
            let parts = [
                "--boundary", "Content-Disposition: form-data; name=\"username\"", "", "alice", "--boundary",
                "Content-Disposition: form-data; name=\"password\"", "", "correcthorsebattery", "--boundary--", "",
            ]
            let text = parts.joined(separator: end)
            for type in [nil, "text/plain", "multipart/form-data; boundary=boundary", "message/http"] {
                let masked = shown(text, type) ?? ""
                #expect(masked == text.replacing("correcthorsebattery", with: "•••"), "\(type ?? "")")
            }
            let request = "POST /in HTTP/1.1\(end)Content-Type: multipart/form-data; boundary=boundary\(end)\(end)"
            #expect(
                shown(request + text, "message/http") == request + text.replacing("correcthorsebattery", with: "•••"))
            let bare = text.replacing("\"", with: "")
            for type in ["multipart/form-data; boundary = boundary", "multipart/form-data;boundary=\"boundary\" "] {
                #expect(shown(bare, type)?.contains("correct") != true)
            }
        }
        // A line of hyphens in a text isn't the beginning of a form.
        #expect(shown("--x\n\na: b\n--x\nc", nil) == "--x\n\na: b\n--x\nc")
    }

    // MARK: Echoes

    @Test("a secret that a response repeats is masked in every encoding")
    func echoes() {
        var redactor = Redactor()
        _ = redactor.form("refresh_token=1%2Fj2xbngqk63lQZ4")
        for echo in ["1/j2xbngqk63lQZ4", "1%2Fj2xbngqk63lQZ4", "1%2fj2xbngqk63lQZ4", "1\\/j2xbngqk63lQZ4"] {
            #expect(redactor.masking("\(echo) is wrong") == "••• is wrong")
        }
        redactor = Redactor()
        _ = redactor.url("https://ada:open!sesame@a.test/")
        for echo in ["open!sesame", "open%21sesame"] { #expect(redactor.masking(echo) == "•••") }
        redactor = Redactor()
        _ = redactor.body(Data(#"{"password":"Pass<word>&\"x'+"}"#.utf8), contentType: "application/json")
        for echo in [
            #"Pass<word>&"x'+"#, "Pass&lt;word&gt;&amp;&quot;x&#39;+", "Pass&lt;word&gt;&amp;&#34;x&#39;+",
            "Pass&lt;word&gt;&amp;&quot;x&#x27;+", "Pass&lt;word&gt;&amp;&quot;x'+", #"Pass<word>&\"x'+"#,
            #"Pass\u003cword\u003e\u0026\"x'+"#, #"Pass\u003Cword\u003E\u0026\u0022x\u0027\u002B"#,
        ] { #expect(redactor.masking("a \(echo) b") == "a ••• b", "\(echo)") }
        redactor = Redactor()
        redactor.remember("pàšşwørđ🔑")
        for echo in [
            "pàšşwørđ🔑", #"p\u00e0\u0161\u015fw\u00f8r\u0111\ud83d\udd11"#,
            #"p\u00E0\u0161\u015Fw\u00F8r\u0111\uD83D\uDD11"#,
            "p%C3%A0%C5%A1%C5%9Fw%C3%B8r%C4%91%F0%9F%94%91", "p%c3%a0%c5%a1%c5%9fw%c3%b8r%c4%91%f0%9f%94%91",
        ] { #expect(redactor.masking(echo) == "•••", "\(echo)") }
    }

    @Test("the password of Basic credentials is masked if a response repeats it decoded, and the user isn't")
    func basic() throws {
        var secrets = HeaderSecrets()
        let credentials = Data("administrator:open sesame: 1".utf8).base64EncodedString()
        let redactor = secrets.redactor(knowing: ["Authorization": "Basic \(credentials)"], [:])
        #expect(redactor.masking("open sesame: 1 of administrator") == "••• of administrator")
        #expect(redactor.masking("Basic \(credentials)") == "•••")
        let proxy = secrets.redactor(knowing: ["Proxy-Authorization": "basic \(credentials)"], [:])
        #expect(proxy.masking("open sesame: 1") == "•••")
    }

    @Test("the value of a header field with the name of a secret is masked if a response repeats it")
    func keys() {
        var secrets = HeaderSecrets()
        let fields: HTTPHeaders = [
            "X-API-Key": "brz_0123456789", "X-Auth-Status": "authenticated", "Accept-Language": "de-1234567",
            "Authorization": "ApiKey VnVhQ2ZHY0JDZGJrU",
        ]
        let challenge: HTTPHeaders = ["WWW-Authenticate": #"Bearer realm="a", error="invalid_token""#]
        let redactor = secrets.redactor(knowing: fields, challenge)
        #expect(redactor.masking("brz_0123456789 is wrong") == "••• is wrong")
        #expect(redactor.masking(#"{"a":"ApiKey VnVhQ2ZHY0JDZGJrU"}"#) == #"{"a":"•••"}"#)
        let plain = "Bearer: authenticated, invalid_token, de-1234567"
        #expect(redactor.masking(plain) == plain)
        // Other requests with the same credential don't know that key.
        let other = secrets.redactor(knowing: ["Authorization": "ApiKey VnVhQ2ZHY0JDZGJrU"], challenge)
        #expect(other.masking("brz_0123456789") == "brz_0123456789")
        var open = Redactor()
        _ = open.headers(fields)
        #expect(open.masking("brz_0123456789 \(plain)") == "••• \(plain)")
    }

    @Test("a short secret doesn't mask the letters of other words")
    func shortSecrets() {
        var redactor = Redactor()
        _ = redactor.body(Data("{\"password\":\"{\\n}\"}".utf8), contentType: "application/json")
        redactor.remember("a")
        #expect(redactor.masking("a banana {\n}") == "a banana {\n}")
    }

    @Test("masking a URL keeps the order and the bytes of its other items")
    func otherItems() {
        let url = "https://a.test/x?b=1&org_name=acme%20corp+1&token=a%2Fb&email=&a=2"
        #expect(Redaction().url(url) == "https://a.test/x?b=1&org_name=acme%20corp+1&token=•••&email=&a=2")
        #expect(Redaction().url("https://a.test/account/me") == "https://a.test/account/me")
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Y2FuYXJ5"
        #expect(Redaction().url("https://a.test/?t=\(token)&a=2") == "https://a.test/?t=•••&a=2")
        #expect(shown("t=\(token)&a=2", "application/x-www-form-urlencoded") == "t=•••&a=2")
    }

    // MARK: Names of sessions, codes and keys

    @Test(
        "names of sessions, one-time codes and keys in files are secret",
        arguments: [
            "PHPSESSID", "phpsessid", "sesskey", "ASPSESSIONIDABC", "connect.sid", "otp_code", "otpCode", "mfa_code",
            "mfaCode", "two_factor_code", "one-time-code", "sms_code", "loginCode", "2fa_code", "client-key-data",
            "clientKeyData", "keyData",
        ])
    func sessionsAndCodes(name: String) { #expect(Redaction().isSecret(name)) }

    @Test(
        "the tokenizer of a language model isn't a secret",
        arguments: [
            "tokenizer", "tokenizer_path", "TOKENIZERS_PARALLELISM", "tokenized", "tokenisation",
            "num_speculative_tokens",
        ])
    func tokenizers(name: String) {
        #expect(!Redaction().isSecret(name))
        #expect(shown("- \(name)=some/model1", nil) == "- \(name)=some/model1")
        for secret in ["tokenizer_token", "HF_TOKEN", "token", "detokenizer_secret"] {
            #expect(Redaction().isSecret(secret))
        }
    }

    // MARK: Commands, configurations and queries

    private func expectShown(_ text: String, _ expected: String?) {
        let expected = expected ?? text
        #expect(shown("- " + text, "text/plain") == "- " + expected)
        // A text that begins like JSON, with a name in it that isn't JSON's, is left out.
        if !text.contains("\"") || !text.contains(":") {
            #expect(shown("[info] " + text, nil) == "[info] " + expected)
        }
        let data = try? JSONEncoder().encode(["message": "- " + text])
        let json = data.map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard let masked = shown(json, "application/json") else { return #expect(Bool(false), "\(json) is left out") }
        let strings = try? JSONDecoder().decode([String: String].self, from: Data(masked.utf8))
        #expect(strings?["message"] == "- " + expected, "\(masked)")
    }

    @Test(
        "the value after an option of a command is masked",
        arguments: [
            ("docker login --password canary1 -u ada", "docker login --password ••• -u ada"),
            ("docker login -u ada --password canary", "docker login -u ada --password •••"),
            ("tool --api-key \"canary 1\" run", "tool --api-key \"•••\" run"),
            ("tool -password 'can ary'", "tool -password '•••'"), ("tool --token canary1,x", "tool --token •••"),
            ("rnp --passphrase canary --x", "rnp --passphrase ••• --x"),
            ("curl -u ada:canary1 https://a.test/x", "curl -u ada:••• https://a.test/x"),
            ("curl --user 'ada:can ary' a.test", "curl --user 'ada:•••' a.test"),
            ("curl --proxy-user ada:canary a.test", "curl --proxy-user ada:••• a.test"),
            ("docker login --password-stdin", nil), ("tool --token --verbose", nil), ("docker run -u 1000:1000 a", nil),
            ("the --token option is required", nil), ("use --password to log in", nil), ("a --page 2 -- token", nil),
            ("sort -u a:b.txt", nil),
        ] as [(String, String?)])
    func commands(text: String, expected: String?) { expectShown(text, expected) }

    @Test(
        "the password in a statement of SQL is masked",
        arguments: [
            ("ALTER USER ada WITH PASSWORD 'canary 1'", "ALTER USER ada WITH PASSWORD '•••'"),
            ("create user ada identified by 'canary'", "create user ada identified by '•••'"),
            ("alter user ADA identified by \"canary\"", "alter user ADA identified by \"•••\""),
            ("CREATE ROLE a ENCRYPTED PASSWORD 'canary'", "CREATE ROLE a ENCRYPTED PASSWORD '•••'"),
            ("SET PASSWORD FOR 'ada'@'h' = PASSWORD('canary')", "SET PASSWORD FOR 'ada'@'h' = PASSWORD('•••')"),
            (
                "CREATE USER 'a' IDENTIFIED WITH mysql_native_password BY 'canary'",
                "CREATE USER 'a' IDENTIFIED WITH mysql_native_password BY '•••'"
            ),
            ("SELECT name FROM t ORDER BY 'name'", nil), ("group by 'a' and identified later", nil),
        ] as [(String, String?)])
    func statements(text: String, expected: String?) { expectShown(text, expected) }

    @Test(
        "all lines of a value in YAML are masked",
        arguments: [
            ("a:\n  password: |\n    canary one\n\n    canary two\n  b: c", "a:\n  password: |\n    •••\n  b: c"),
            ("x: 1\nsigning_key: >-\n  canary\n  canary", "x: 1\nsigning_key: >-\n  •••"),
            ("x:\n- password: |2-\n    canary\n  user: b", "x:\n- password: |2-\n    •••\n  user: b"),
            ("x: 1\npassword: |\nb: c", nil), ("x: 1\nnote: |\n  canary\nb: c", nil),
            ("x: 1\npassword: 'it''s-correct-horse'", "x: 1\npassword: '•••'"), ("x: 1\npassword: '' # none", nil),
        ] as [(String, String?)])
    func yaml(text: String, expected: String?) { expectShown(text, expected) }

    @Test(
        "a value that a program's description wraps is masked whole",
        arguments: [
            ("{'password': b'canary 1', 'a': b'c'}", "{'password': b'•••', 'a': b'c'}"),
            ("Config(token=u\"canary\", x=1)", "Config(token=u\"•••\", x=1)"),
            ("password: Optional(\"canary 1\")", "password: Optional(\"•••\")"),
            ("TokenSecret(_token='sk-canary', _type=1)", "TokenSecret(_token='•••', _type=1)"),
            ("Config { api_key: Some(\"canary\"), x: 1 }", "Config { api_key: Some(\"•••\"), x: 1 }"),
            ("[(b'host', b'a.test'), (b'x-api-key', b'canary 1')]", "[(b'host', b'a.test'), (b'x-api-key', b'•••')]"),
            ("headers: [('Cookie', 'a=b')]", "headers: [('Cookie', '•••')]"),
            ("export TOKEN=$'canary'", "export TOKEN=$'•••'"),
            ("password='it'\\''s-canary' x", "password='•••' x"),
            ("required: ('password', 'email')", nil), ("token: Optional(nil)", nil),
        ] as [(String, String?)])
    func descriptions(text: String, expected: String?) { expectShown(text, expected) }

    // MARK: Secrets of known shapes

    private static let letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0"

    @Test(
        "a token is known by its beginning, in a text, a value, a path and a query",
        arguments: [
            "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-1-2-", "xoxp-", "xapp-1-",
            "sk-proj-",
            "sk-ant-api03-", "sk-", "sk_live_", "rk_live_", "hf_", "npm_", "AIzaSy", "lin_api_", "dop_v1_", "shpat_",
        ])
    func tokensByPrefix(prefix: String) {
        let token = prefix + Self.letters + "xYz12"
        expectShown("Incorrect key \(token) in (\(token)).", "Incorrect key ••• in (•••).")
        #expect(shown(#"{"a":"\#(token)","b":1}"#, "application/json") == #"{"a":"•••","b":1}"#)
        #expect(Redaction().url("https://a.test/x?a=\(token)&b=1") == "https://a.test/x?a=•••&b=1")
        #expect(shown("GET https://a.test/x/\(token)/y", "text/plain") == "GET https://a.test/x/•••/y")
        #expect(shown("<a b='\(token)'>\(token)</a>", "text/html") == "<a b='•••'>•••</a>")
    }

    @Test(
        "words that only resemble the beginning of a token stay",
        arguments: [
            "task-management-of-all-things-1", "ghp_short", "sk-short", "disk-aB3dE6gH9jK2mN5pQ8sT1vW4", "xoxo-hugs",
            "risk-free-and-more-words-here", "sk-learn-contrib-documentation", "AIzaShort",
            "npm_config_cache_directory",
            "hf_hub_download_progress_bar", "150428427078522", "eyJsonSerializerFactory.deserializeFrom",
        ])
    func wordsLikeTokens(word: String) { expectShown("see \(word) now", nil) }

    @Test(
        "the path of a webhook, which is its secret, is masked",
        arguments: [
            (
                "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
                "https://hooks.slack.com/services/•••"
            ),
            (
                "https://discord.com/api/webhooks/123456789012345678/abcDEF-canary_x?wait=true",
                "https://discord.com/api/webhooks/•••?wait=true"
            ),
            ("https://discordapp.com/api/webhooks/1234/canary", "https://discordapp.com/api/webhooks/•••"),
            (
                "https://acme.webhook.office.com/webhookb2/abc@ghi/IncomingWebhook/0123/aaaa-bbbb",
                "https://acme.webhook.office.com/webhookb2/•••"
            ),
            (
                "https://api.telegram.org/bot123:ABC-DEF/sendMessage?a=1",
                "https://api.telegram.org/bot•••/sendMessage?a=1"
            ),
            ("https://hooks.slack.com/docs", nil), ("https://discord.com/api/v10/users/1", nil),
            ("https://evil.test/hooks.slack.com/services/T0", nil),
        ] as [(String, String?)])
    func webhooks(url: String, expected: String?) {
        let expected = expected ?? url
        #expect(Redaction().url(url) == expected)
        #expect(shown("posting to \(url) failed", "text/plain") == "posting to \(expected) failed")
        #expect(shown(#"{"url":"\#(url)"}"#, "application/json") == #"{"url":"\#(expected)"}"#)
        var redactor = Redactor()
        _ = redactor.url("https://discord.com/api/webhooks/1234/canary-123")
        #expect(redactor.masking("/api/webhooks/1234/canary-123 is gone").contains("canary") == false)
    }

    @Test("a private key that Base64 hides is masked, under any name")
    func encodedKeys() {
        let pem = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIMs4tSuTqBFPsTwVDvPmU2\n-----END EC PRIVATE KEY-----\n"
        let key = Data(pem.utf8).base64EncodedString()
        let certificate = Data(pem.replacing("EC PRIVATE KEY", with: "CERTIFICATE").utf8).base64EncodedString()
        #expect(shown(#"{"data":{"tls.pem":"\#(key)"}}"#, "application/json") == #"{"data":{"tls.pem":"•••"}}"#)
        expectShown("x: \(key)\ny: 1", "x: •••\ny: 1")
        expectShown("x: \(certificate)", nil)
        #expect(
            shown("users:\n- user:\n    client-key-data: c2hvcnQ=\n    a: b", "application/yaml")
                == "users:\n- user:\n    client-key-data: •••\n    a: b")
    }

    @Test(
        "the private members of a JSON Web Key are masked, and the public ones aren't",
        arguments: [
            (
                #"{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"canary"}"#,
                #"{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"•••"}"#
            ),
            (#"{"d":"canary","x":"a","kty":"OKP"}"#, #"{"d":"•••","x":"a","kty":"OKP"}"#),
            (
                #"{"keys":[{"kty":"RSA","n":"a","e":"b","d":"1","p":"2","q":"3","dp":"4","dq":"5","qi":"6"}]}"#,
                #"{"keys":[{"kty":"RSA","n":"a","e":"b","d":"•••","p":"•••","q":"•••","dp":"•••","dq":"•••","qi":"•••"}]}"#
            ),
            (#"[{"k":"canary","kty":"oct"},{"k":"shown"}]"#, #"[{"k":"•••","kty":"oct"},{"k":"shown"}]"#),
            (#"{"d":"1","p":"2","k":{"kty":"a"}}"#, nil), (#"{"a":{"d":"1"},"kty":"EC"}"#, nil),
        ] as [(String, String?)])
    func webKeys(text: String, expected: String?) {
        #expect(shown(text, "application/json") == expected ?? text)
    }

    // MARK: Odd bodies and URLs

    @Test(
        "JSON is masked after a prefix against inclusion, and in the call of a function",
        arguments: [
            (")]}'\n{\"token\":\"canary\"}", ")]}'\n{\"token\":\"•••\"}", "application/json"),
            (")]}',\n[{\"token\":\"canary\"}]", ")]}',\n[{\"token\":\"•••\"}]", "application/json"),
            ("while(1);{\"token\":\"canary\"}", "while(1);{\"token\":\"•••\"}", "application/json"),
            ("for (;;);{\"token\":\"canary\"}", "for (;;);{\"token\":\"•••\"}", "application/x-javascript"),
            ("call_1({\"token\":\"canary\"});", "call_1({\"token\":\"•••\"});", "text/javascript"),
            ("/**/a.b({\"token\":\"canary\"})", "/**/a.b({\"token\":\"•••\"})", "application/javascript"),
        ])
    func wrappedJSON(text: String, expected: String, type: String) { #expect(shown(text, type) == expected) }

    @Test(
        "a password of a URL is masked whole, whatever characters it has",
        arguments: [
            ("postgres://ada:pa?ss@h.test:5432/db", "postgres://•••@h.test:5432/db"),
            ("postgres://ada:pa#ss@h.test/db", "postgres://•••@h.test/db"),
            ("postgres://ada@h.test/db?password=canary", "postgres://•••@h.test/db?password=•••"),
        ])
    func oddPasswords(url: String, expected: String) {
        #expect(Redaction().url(url) == expected)
        #expect(shown("to \(url) failed", "text/plain") == "to \(expected) failed")
        #expect(shown("proxy=\(url)&a=1", "application/x-www-form-urlencoded")?.contains("ss") != true)
    }

    @Test(
        "an at sign elsewhere doesn't make a part of a URL a password",
        arguments: [
            "peer https://peer.test:9077 refused a write from agent ai:code@os",
            "sync https://peer:9077/api/push -> 403: not enrolled for ai:codex@f2", "https://a.test/?q=ada@b.test",
            "https://a.test:8080/?to=ada@b.test", "https://a.test/users#ada@b.test", "https://[::1]:80/?a=b@c",
        ])
    func otherAtSigns(text: String) {
        #expect(shown("- " + text, "text/plain") == "- " + text)
        #expect(shown(text, "text/plain") == text)
    }

    @Test(
        "an element of SOAP is masked with a prefix, with attributes, and with any character data",
        arguments: [
            ("<ns1:password>canary</ns1:password>", "<ns1:password>•••</ns1:password>"),
            ("<n:usr_pwd><![CDATA[canary_98]]></n:usr_pwd><n:b>c</n:b>", "<n:usr_pwd>•••</n:usr_pwd><n:b>c</n:b>"),
            ("<password><![CDATA[a</password>canary]]></password><b>c</b>", "<password>•••</password><b>c</b>"),
            ("<password><![CDATA[a<password>canary]]></password><b>c</b>", "<password>•••</password><b>c</b>"),
            (
                "<wsse:Password Type=\"x#PasswordText\">canary&amp;1</wsse:Password>",
                "<wsse:Password Type=\"x#PasswordText\">•••</wsse:Password>"
            ),
        ])
    func soap(text: String, expected: String) {
        #expect(shown("<a>\(text)</a>", "text/xml") == "<a>\(expected)</a>")
    }

    @Test("a number that could be one of a card is shown, unless its name tells so")
    func cards() {
        expectShown("order 150428427078522 and 4242424242424242", nil)
        #expect(
            shown(#"{"credit-card-number":"4242424242424242","id":"150428427078522"}"#, "application/json")
                == #"{"credit-card-number":"•••","id":"150428427078522"}"#)
    }
}
