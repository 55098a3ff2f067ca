import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandKeys
import ErrandTesting
import Testing

@testable import ErrandSigning

/// The numbers are those of RFC 9421.
@Suite("The examples of RFC 9421", .endsInTime) struct RFC9421Tests {
    private struct Example: Sendable, CustomTestStringConvertible {
        let label: String
        let input: String
        let signature: String
        let key: @Sendable () throws -> any KeySigner
        let algorithm: KeyAlgorithm
        var message = SignableMessage(Examples.request)
        /// Whether the algorithm gives the same signature each time.
        var isFixed = false
        var hasContent: Bool? = false
        var testDescription: String { label }
    }

    private static let pss: @Sendable () throws -> any KeySigner = { try PrivateKey(pem: TestKeys.rsaPSSPrivate) }
    private static let p256: @Sendable () throws -> any KeySigner = { try PrivateKey(pem: TestKeys.p256Private) }
    private static let ed25519: @Sendable () throws -> any KeySigner = { try PrivateKey(pem: TestKeys.ed25519Private) }

    private static var proxied: SignableMessage {
        let certificate =
            ":MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVy"
            + "bWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0D"
            + "AQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYD"
            + "VR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIw"
            + "HQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCO"
            + "OB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:"
        return SignableMessage(
            HTTPRequest(
                .post, address("https://service.internal.example/foo?param=Value&Pet=dog"),
                headers: ["Client-Cert": certificate]))
    }

    private static var transformed: SignableMessage {
        var headers: HTTPHeaders = ["Host": "example.org", "Date": "Fri, 15 Jul 2022 14:24:55 GMT"]
        headers.add(.accept, "application/json")
        headers.add(.accept, "*/*")
        return SignableMessage(
            HTTPRequest(.get, address("https://example.org/demo?name1=Value1&Name2=value2"), headers: headers))
    }

    /// Appendices B.2.1 to B.2.6, B.3 and B.4.
    private static let examples: [Example] = [
        Example(
            label: "sig-b21",
            input: #"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#,
            signature: "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx"
                + "7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKh"
                + "O4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1f"
                + "V5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==",
            key: pss, algorithm: .rsaPSSSHA512),
        Example(
            label: "sig-b22",
            input: #"("@authority" "content-digest" "@query-param";name="Pet");created=1618884473"#
                + #";keyid="test-key-rsa-pss";tag="header-example""#,
            signature:
                "LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8U"
                + "CMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+"
                + "4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQos"
                + "MTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==",
            key: pss, algorithm: .rsaPSSSHA512),
        Example(
            label: "sig-b23",
            input: #"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length")"#
                + #";created=1618884473;keyid="test-key-rsa-pss""#,
            signature:
                "bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2vo"
                + "Tp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXm"
                + "IkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyM"
                + "UJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==",
            key: pss, algorithm: .rsaPSSSHA512),
        Example(
            label: "sig-b24",
            input: #"("@status" "content-type" "content-digest" "content-length");created=1618884473"#
                + #";keyid="test-key-ecc-p256""#,
            signature: "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==",
            key: p256, algorithm: .ecdsaP256SHA256,
            message: SignableMessage(Examples.response, to: Examples.request), hasContent: true),
        Example(
            label: "sig-b25",
            input: #"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
            signature: "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
            key: { HMACKey(TestKeys.sharedSecret) }, algorithm: .hmacSHA256, isFixed: true),
        Example(
            label: "sig-b26",
            input: #"("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473"#
                + #";keyid="test-key-ed25519""#,
            signature: "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
            key: ed25519, algorithm: .ed25519, isFixed: true),
        Example(
            label: "ttrp",
            input: #"("@path" "@query" "@method" "@authority" "client-cert");created=1618884473"#
                + #";keyid="test-key-ecc-p256""#,
            signature: "xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==",
            key: p256, algorithm: .ecdsaP256SHA256, message: proxied),
        Example(
            label: "transform",
            input: #"("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#,
            signature: "ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==",
            key: ed25519, algorithm: .ed25519, message: transformed, isFixed: true),
    ]

    private static func requirements(_ components: [SignatureComponent] = []) -> SignatureRequirements {
        var requirements = SignatureRequirements(covering: components)
        requirements.coversContent = false
        return requirements
    }

    @Test("the specification's signatures are valid, and invalid after the message changes", arguments: examples)
    private func verifies(example: Example) async throws {
        var message = example.message
        message.headers[.signatureInput] = "\(example.label)=\(example.input)"
        message.headers[.signature] = "\(example.label)=:\(example.signature):"
        let verifier = HTTPMessageVerifier(keys: try Examples.keys(), requirements: Self.requirements())
        let verified = try await verifier.verify(message, at: Examples.created)
        #expect(verified.map(\.label) == [example.label])
        for (index, component) in verified[0].input.components.enumerated() where !component.isDerived {
            var changed = message
            let name = HTTPHeaderName(component.name)
            changed.headers[name] = (changed.headers[name] ?? "") + "x"
            #expect(
                await failure { _ = try await verifier.verify(changed, at: Examples.created) }
                    == .invalidSignature, "component \(index)")
        }
    }

    @Test("the same inputs give the same signature base, and valid signatures", arguments: examples)
    private func signs(example: Example) async throws {
        let fields = try StructuredField.Dictionary(parsing: "\(example.label)=\(example.input)")
        let input = try SignatureInput(fields[example.label])
        #expect(try input.list.serialized() == example.input)
        let base = try input.signatureBase(of: example.message)
        let signature = try await example.key().signature(of: base, by: example.algorithm)
        #if !canImport(CryptoKit)
        if example.isFixed { #expect(signature.base64EncodedString() == example.signature) }
        #endif
        var message = example.message
        message.headers[.signatureInput] = "\(example.label)=\(example.input)"
        message.headers[.signature] = "\(example.label)=:\(signature.base64EncodedString()):"
        let verifier = HTTPMessageVerifier(keys: try Examples.keys(), requirements: Self.requirements())
        #expect(try await verifier.verify(message, at: Examples.created).count == 1)
    }

    @Test("the signer writes the fields of appendices B.2.5 and B.2.6") func signer() async throws {
        var signer = try HTTPMessageSigner(key: HMACKey(TestKeys.sharedSecret), keyID: "test-shared-secret")
        (signer.label, signer.usesNonce, signer.optionalComponents) = ("sig-b25", false, [])
        signer.components = ["date", .authority, "content-type"]
        var request = Examples.request
        try await signer.sign(&request, at: Examples.created)
        #expect(
            request.headers[.signatureInput]
                == #"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#)
        #expect(request.headers[.signature] == "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:")
        #expect(request.headers[.contentDigest] == Examples.request.headers[.contentDigest])
        #if !canImport(CryptoKit)
        signer = try HTTPMessageSigner(key: PrivateKey(pem: TestKeys.ed25519Private), keyID: "test-key-ed25519")
        (signer.label, signer.usesNonce, signer.optionalComponents) = ("sig-b26", false, [])
        signer.components = ["date", .method, .path, .authority, "content-type", "content-length"]
        request = Examples.request
        try await signer.sign(&request, at: Examples.created)
        #expect(
            request.headers[.signature]
                == "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:")
        #endif
    }

    private static let query =
        "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace"
        + "&fa%C3%A7ade%22%3A%20=something&qux="

    @Test(
        "derived components have the values of section 2.2",
        arguments: [
            ("@method", "POST"), ("@target-uri", "https://www.example.com/path?param=value"),
            ("@authority", "www.example.com"), ("@scheme", "https"), ("@request-target", "/path?param=value"),
            ("@path", "/path"), ("@query", "?param=value"),
        ])
    func derived(name: String, value: String) throws {
        let request = HTTPRequest(.post, address("HTTPS://WWW.example.com:443/path?param=value#fragment"))
        #expect(try SignableMessage(request).value(of: SignatureComponent(stringLiteral: name)) == value)
    }

    @Test("an empty path is a slash, a missing query is a question mark, and a port is kept") func edges() throws {
        let message = SignableMessage(HTTPRequest(.get, address("https://www.example.com:8443")))
        #expect(try message.value(of: .path) == "/")
        #expect(try message.value(of: .query) == "?")
        #expect(try message.value(of: .authority) == "www.example.com:8443")
        #expect(try message.value(of: .requestTarget) == "/")
        #expect(try SignableMessage(HTTPRequest(.get, address("http://a/?"))).value(of: .query) == "?")
        let connect = SignableMessage(HTTPRequest("CONNECT", address("https://www.example.com:80/")))
        #expect(try connect.value(of: .requestTarget) == "www.example.com:80")
        var options = SignableMessage(HTTPRequest("OPTIONS", address("https://www.example.com/")))
        options.requestTarget = "*"
        #expect(try options.value(of: .requestTarget) == "*")
    }

    @Test("query parameters are decoded like forms, and encoded once, as in section 2.2.8") func parameters()
        throws
    {
        let message = SignableMessage(HTTPRequest(.get, address(Self.query)))
        func line(_ name: String) throws -> String {
            let component = SignatureComponent.queryParameter(name)
            return "\(component): \(try message.value(of: component))"
        }
        #expect(try line("var") == #""@query-param";name="var": this%20is%20a%20big%0Amultiline%20value"#)
        #expect(try line("bar") == #""@query-param";name="bar": with%20plus%20whitespace"#)
        #expect(try line("façade\": ") == #""@query-param";name="fa%C3%A7ade%22%3A%20": something"#)
        #expect(try line("qux") == #""@query-param";name="qux": "#)
    }

    @Test("fields have the values of section 2.1") func fields() throws {
        var headers: HTTPHeaders = ["X-OWS-Header": "  Leading and trailing whitespace.   ", "X-Empty-Header": ""]
        headers.add(.cacheControl, "max-age=60")
        headers.add(.cacheControl, "   must-revalidate")
        headers["Example-Dict"] = "  a=1,    b=2;x=1;y=2,   c=(a   b   c), d"
        headers.add("Example-Header", "value, with, lots")
        headers.add("Example-Header", "of, commas")
        headers.add("Latin", "caf\u{E9}")
        var message = SignableMessage(HTTPRequest(.get, address("https://a/"), headers: headers))
        message.fieldTypes["Example-Dict"] = .dictionary
        let expected: [(SignatureComponent, String)] = [
            ("x-ows-header", "Leading and trailing whitespace."), ("x-empty-header", ""),
            ("cache-control", "max-age=60, must-revalidate"),
            (.field(.cacheControl).structured, "max-age=60, must-revalidate"),
            ("example-dict", "a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
            (.field("Example-Dict").structured, "a=1, b=2;x=1;y=2, c=(a b c), d"),
            (.field("Example-Dict").member("a"), "1"), (.field("Example-Dict").member("d"), "?1"),
            (.field("Example-Dict").member("b"), "2;x=1;y=2"), (.field("Example-Dict").member("c"), "(a b c)"),
            ("example-header", "value, with, lots, of, commas"),
            (.field("Example-Header").binary, ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"),
            (.field("Latin").binary, ":Y2Fmw6k=:"),
        ]
        for (component, value) in expected { #expect(try message.value(of: component) == value, "\(component)") }
    }

    @Test("a response signs parts of its request, as in section 2.4") func related() async throws {
        var request = Examples.request
        var signer = try HTTPMessageSigner(key: PrivateKey(pem: TestKeys.p256Private), keyID: "test-key-ecc-p256")
        try await signer.sign(&request, at: Examples.created)
        signer.components = [
            .status, "content-digest", "content-type", .authority.ofRequest, .method.ofRequest,
            .field(.signature).member("sig").ofRequest,
        ]
        var response = Examples.response
        let message = SignableMessage(response, to: request)
        try await signer.sign(&response.headers, of: message, at: Examples.created)
        let verifier = HTTPMessageVerifier(
            keys: try Examples.keys(),
            requirements: SignatureRequirements(covering: [.status, .method.ofRequest]))
        #expect(try await verifier.verify(SignableMessage(response, to: request), at: Examples.created).count == 1)
        var other = request
        other.headers[.signature] = "sig=:AAAA:"
        #expect(
            await failure {
                _ = try await verifier.verify(SignableMessage(response, to: other), at: Examples.created)
            } == .invalidSignature)
        #expect(
            await failure {
                _ = try await verifier.verify(SignableMessage(response, to: nil), at: Examples.created)
            } == .missingComponent)
    }

    @Test("a proxy signs over the client's signature, as in section 4.3") func several() async throws {
        let client = try HTTPMessageSigner(key: PrivateKey(pem: TestKeys.ed25519Private), keyID: "test-key-ed25519")
        var proxy = try HTTPMessageSigner(key: PrivateKey(pem: TestKeys.rsaPrivate), keyID: "test-key-rsa")
        proxy.algorithm = .rsaPKCS1SHA256
        (proxy.label, proxy.namesAlgorithm, proxy.lifetime) = ("proxy_sig", true, .seconds(60))
        proxy.components = [.field(.signature).member("sig"), "forwarded"]
        var request = Examples.request
        request.headers["Forwarded"] = "for=192.0.2.123"
        try await client.sign(&request, at: Examples.created)
        try await proxy.sign(&request, at: Examples.created)
        let verifier = HTTPMessageVerifier(keys: try Examples.keys(), requirements: SignatureRequirements(covering: []))
        let verified = try await verifier.verify(SignableMessage(request), at: Examples.created)
        #expect(verified.map(\.label) == ["sig", "proxy_sig"])
        #expect(verified[1].input.algorithm == "rsa-v1_5-sha256")
        #expect(verified[1].input.expires == Examples.created.addingTimeInterval(60))
        #expect(
            await failure {
                var request = request
                try await client.sign(&request, at: Examples.created)
            } == .fieldInUse)
    }

    @Test("digests equal the digests in RFC 9530, appendices B.1 and D") func digests() throws {
        let body = Data("{\"hello\": \"world\"}\n".utf8)
        #expect(
            try ContentDigest(of: body, [.sha256]).fieldValue
                == "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:")
        #expect(
            try ContentDigest(of: Data(), [.sha256]).fieldValue
                == "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
        #expect(
            try ContentDigest(of: Data(#"{"hello": "world"}"#.utf8), [.sha512]).fieldValue
                == Examples.request.headers[.contentDigest])
        let both = try ContentDigest(parsing: ContentDigest(of: body, [.sha256, .sha512]).fieldValue + ", md5=:AA==:")
        #expect(both.entries.map(\.algorithm) == [.sha256, .sha512])
        #expect(try both.matches(body))
        #expect(try !both.matches(body + [0]))
        for text in ["", "md5=:AA==:", "sha-256=abc", "sha-256=:AA==:", "sha-256=:AA==", "sha-256"] {
            #expect(throws: SigningError.self) { try ContentDigest(parsing: text) }
        }
    }
}
