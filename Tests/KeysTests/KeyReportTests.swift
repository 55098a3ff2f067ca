import ErrandDigests
import ErrandEssentials
import ErrandHTTP
import Testing

@testable import ErrandKeys

/// Keys that users of other libraries couldn't read; the reports are in Tests/Lessons.md.
@Suite("Keys in daily use", .endsInTime) struct KeyReportTests {
    private static func jwk(_ x: String, _ y: String) -> Data {
        Data(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)
    }

    private static func pem(_ base64: String, _ label: String = "PRIVATE KEY") -> String {
        "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    private static func works(_ key: PrivateKey) throws -> Bool {
        let (message, algorithm) = (Data("a message".utf8), try #require(key.algorithms.first))
        return try key.publicKey.isValid(
            try key.signature(of: message, by: algorithm), of: message, by: algorithm)
    }

    @Test(
        "a coordinate keeps its leading zeros, and the thumbprint covers them",
        arguments: [
            ("APgYG5BNQBWVT-w7yW51bi9M5hVluuqPOGXXl5if_NM", "QmnCr5fkc5hvPAHJlus28hFl9fvENm3BAHbt7YcDakQ"),
            ("AEnqT7Oatx6yGzctZ7GyHUxPqQWiQdz_912uEEG4UV0", "iURTsWCd45A8N0pxg0mtt_QLuVjXzdOREgdRaCTY36o"),
        ])
    func coordinates(x: String, y: String) throws {
        let key = try PublicKey(jwk: Self.jwk(x, y))
        #expect(Data(key.jwk.utf8) == Self.jwk(x, y))
        #expect(try key.thumbprint() == Base64URL.text(SHA256Digest.digest(of: Array(Self.jwk(x, y)))))
        #expect(try PublicKey(jwk: Data(key.jwk.utf8)) == PublicKey(pem: key.pem))
    }

    @Test("the number of a point in PEM has 32 bytes as a JWK")
    func pointInPEM() throws {
        let key = try PublicKey(
            pem: Self.pem(
                """
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEhvGzt82WMJxqTuXCZxnvwrx4enQj
                6xc+erlhbTq8gTMAJBzNRPbpuj4NOwTCwjohrtY0TAkthwTuixuojpGKmw==
                """, "PUBLIC KEY"))
        #expect(key.jwk.contains(#""x":"hvGzt82WMJxqTuXCZxnvwrx4enQj6xc-erlhbTq8gTM""#))
        let y = try #require(Base64URL.bytes("JBzNRPbpuj4NOwTCwjohrtY0TAkthwTuixuojpGKmw"))
        #expect(y.count == 31 && key.jwk.contains(#""y":"\#(Base64URL.text([0] + y))""#))
    }

    @Test(
        "a coordinate whose leading zeros are missing, or that has too many, is read and written as the standard says")
    func shortCoordinates() throws {
        let (x, y) = ("rdYu9rs4jFRTSPIUiUryoHNu_j32BLaLEK3ZzVLc9w", "eAgyilCBWz-FUUXdhpOPmBxdvbWsphsT-ep-paCx8-k")
        let bytes = try #require(Base64URL.bytes(x))
        #expect(bytes.count == 31)
        let key = try PublicKey(jwk: Self.jwk(x, y))
        for zeros in 1...3 {
            let padded = Base64URL.text([UInt8](repeating: 0, count: zeros) + bytes)
            #expect(try PublicKey(jwk: Self.jwk(padded, y)) == key)
        }
        #expect(key.jwk.contains(Base64URL.text([0] + bytes)))
        // The key of the second report above, as its server wrote it.
        let short = Self.jwk(
            "SepPs5q3HrIbNy1nsbIdTE-pBaJB3P_3Xa4QQbhRXQ", "iURTsWCd45A8N0pxg0mtt_QLuVjXzdOREgdRaCTY36o")
        let whole = Self.jwk(
            "AEnqT7Oatx6yGzctZ7GyHUxPqQWiQdz_912uEEG4UV0", "iURTsWCd45A8N0pxg0mtt_QLuVjXzdOREgdRaCTY36o")
        #expect(try PublicKey(jwk: short) == PublicKey(jwk: whole))
        for wrong in ["", "AA", Base64URL.text([1] + [UInt8](repeating: 0, count: 32))] {
            #expect(throws: KeyError.self) { try PublicKey(jwk: Self.jwk(wrong, y)) }
        }
    }

    @Test("numbers of an RSA key may have zeros too many, and are written without them")
    func longNumbers() throws {
        let key = try PublicKey(pem: TestKeys.rsaPublic)
        let members = try JSONDecoder().decode([String: String].self, from: Data(key.jwk.utf8))
        func longer(_ text: String?) throws -> String {
            Base64URL.text([0] + (try #require(text.flatMap { Base64URL.bytes($0) })))
        }
        let (n, e) = (try longer(members["n"]), try longer(members["e"]))
        let long = try PublicKey(jwk: Data(#"{"kty":"RSA","n":"\#(n)","e":"\#(e)"}"#.utf8))
        #expect(long == key && long.jwk == key.jwk)
        #expect(try long.thumbprint() == key.thumbprint())
        for wrong in [#"{"kty":"RSA","n":"AA","e":"AQAB"}"#, #"{"kty":"RSA","n":"\#(n)","e":"AA"}"#] {
            #expect(throws: KeyError.self) { try PublicKey(jwk: Data(wrong.utf8)) }
        }
    }

    @Test("numbers with the padding of Base64 aren't those of a JWK")
    func padding() throws {
        let key = try PublicKey(pem: TestKeys.rsaPublic)
        let padded = key.jwk.replacing(#""e":"AQAB""#, with: #""e":"AQAB====""#)
        #expect(padded != key.jwk)
        #expect(throws: KeyError.self) { try PublicKey(jwk: Data(padded.utf8)) }
    }

    @Test(
        "a private key is read without its public part, with attributes, and without the name of the inner curve",
        arguments: [
            "MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCD1/r3zho5W2MpyZEk+\n2d7gxUcQYUJzvWSOiwkUxCj8Bw==",
            """
            MIGiAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgThV48rmEJMwOhuKM
            4jUPAugQRUx8xoPU7UQpJlN6lRWgCgYIKoZIzj0DAQehRANCAARn3yvoAQlwsH1A
            2VvZIebdjyx+xc0witc80JF7h9Xt8NKIlLEkxHNMX3FCgMPcjWPRAD6ykrvbA0hn
            L/iKP4XqoA0wCwYDVR0PMQQDAgCA
            """,
        ])
    func privateParts(base64: String) throws {
        let key = try PrivateKey(pem: Self.pem(base64))
        #expect(key.type == .p256)
        #expect(try Self.works(key))
    }

    @Test("a length in a key may be written in more bytes than needed, as some programs do")
    func longLengths() throws {
        let scalar: [UInt8] = [
            118, 50, 222, 115, 56, 87, 123, 193, 44, 23, 49, 250, 41, 240, 128, 25, 32, 106, 243, 129, 247, 74, 246, 15,
            77, 94, 3, 149, 33, 143, 32, 92,
        ]
        let head: [UInt8] = [2, 1, 0, 48, 19, 6, 7, 42, 134, 72, 206, 61, 2, 1, 6, 8, 42, 134, 72, 206, 61, 3, 1, 7]
        let content = head + [4, 39, 48, 37, 2, 1, 1, 4, 32] + scalar
        let short = try PrivateKey(pem: PEM.text([48, 65] + content, label: "PRIVATE KEY"))
        for length in [[129, 65], [130, 0, 65]] as [[UInt8]] {
            let long = try PrivateKey(pem: PEM.text([48] + length + content, label: "PRIVATE KEY"))
            #expect(long.publicKey == short.publicKey)
        }
        #expect(try Self.works(short))
        // A signature has one form only.
        let number: [UInt8] = [2, 1, 1, 2, 1, 1]
        #expect(ECDSASignature.raw([48, 6] + number, size: 32) != nil)
        #expect(ECDSASignature.raw([48, 129, 6] + number, size: 32) == nil)
    }

    @Test("text before and after a key doesn't matter, and neither does the last line end")
    func surroundings() throws {
        let key = try PrivateKey(pem: TestKeys.p256Private)
        let bare = String(key.pem.dropLast())
        let texts = [
            "\n\n\(key.pem)", "\(key.pem)\n\n", "subject=/CN=a\r\n\(bare)", "\(bare)  \t\n-- \nx", "\u{FEFF}\(bare)",
        ]
        for text in texts {
            #expect(try PrivateKey(pem: text).publicKey == key.publicKey)
        }
    }

    @Test("a key of another curve isn't read as one of P-256")
    func otherCurve() {
        let jwk = #"{"kty":"EC","crv":"P-521","x":"AA","y":"AA"}"#
        let error = #expect(throws: KeyError.self) { try PublicKey(jwk: Data(jwk.utf8)) }
        #expect(error?.code == .unsupportedKey)
    }

    @Test(
        "a key of PKCS#8's second version is read, whichever way its public part is tagged",
        arguments: [
            (
                """
                MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
                oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
                Z9w7lshQhqowtrbLDFw4rXAxZuE=
                """, "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE"
            ),
            (
                """
                MFMCAQEwBQYDK2VwBCIEIGIsMDbeo5rdiq208eOfvZlm3K9SHOsDUt2FI2js1z9Y
                oSMDIQDN0z6SeMgqmKvsBQ8E8qcQW5ZJebea7drLQyq7513ovQ==
                """, "zdM-knjIKpir7AUPBPKnEFuWSXm3mu3ay0Mqu-dd6L0"
            ),
        ])
    func secondVersion(base64: String, x: String) throws {
        let key = try PrivateKey(pem: Self.pem(base64))
        #expect(key.type == .ed25519 && key.publicKey.jwk.contains(#""x":"\#(x)""#))
        #expect(try Self.works(key))
        // A public part of another key is an error in this format as well.
        var bytes = try #require(Data(base64Encoded: base64.filter { !$0.isWhitespace }))
        bytes[bytes.count - 1] ^= 1
        let error = #expect(throws: KeyError.self) {
            try PrivateKey(pem: PEM.text(Array(bytes), label: "PRIVATE KEY"))
        }
        #expect(error?.code == .malformedKey)
    }

    @Test(
        "a key in the format of another program is called unsupported, and the error tells how to convert it",
        arguments: ["OPENSSH PRIVATE KEY", "DSA PRIVATE KEY"])
    func otherFormats(label: String) {
        let error = #expect(throws: KeyError.self) { try PrivateKey(pem: Self.pem("b3BlbnNzaC1rZXktdjEA", label)) }
        #expect(error?.code == .unsupportedKey)
        #expect("\(error as Any)".contains(label), "\(error as Any)")
        let isOpenSSH = label.hasPrefix("OPENSSH")
        #expect("\(error as Any)".contains("ssh-keygen -p -m PKCS8") == isOpenSSH)
        // Another key in the text is read.
        let text = Self.pem("b3BlbnNzaC1rZXktdjEA", label) + TestKeys.p256Private
        #expect((try? PrivateKey(pem: text))?.type == .p256)
    }

    @Test(
        "uses, operations and other members of a JWK don't matter, whatever their values are",
        arguments: [
            #""use":"enc""#, #""use":7"#, #""key_ops":["encrypt","fly"]"#, #""key_ops":"sign""#, #""ext":false"#,
            #""kid":12,"alg":"RSA-OAEP-256""#, #""x5c":["MIIB"],"x5t":null,"iat":1.5"#,
        ])
    func otherMembers(members: String) throws {
        let key = try PublicKey(pem: TestKeys.rsaPublic)
        let jwk = "{\(members),\(key.jwk.dropFirst())"
        #expect(try PublicKey(jwk: Data(jwk.utf8)) == key)
        let p256 = try PrivateKey(jwk: Data("{\(members),\(TestKeys.p256JWK.dropFirst())".utf8))
        #expect(try Self.works(p256))
    }

    @Test("numbers of a JWK have the characters of base64url only, in one form")
    func strictNumbers() throws {
        let (x, y) = ("APgYG5BNQBWVT-w7yW51bi9M5hVluuqPOGXXl5if_NM", "QmnCr5fkc5hvPAHJlus28hFl9fvENm3BAHbt7YcDakQ")
        #expect(try PublicKey(jwk: Self.jwk(x, y)).type == .p256)
        // The alphabet of Base64, blanks, line ends, and bits that no byte has.
        let wrong = [
            x.replacing("-", with: "+"), x.replacing("_", with: "/"), x + " ", " " + x, x.replacing("T", with: "\\n"),
            String(x.dropLast()) + "N", x + "A",
        ]
        for text in wrong {
            let error = #expect(throws: KeyError.self) { try PublicKey(jwk: Self.jwk(text, y)) }
            #expect(error?.code == .malformedKey, "\(text)")
        }
    }

    @Test("an RSA key without its primes is called unsupported, because they would have to be computed")
    func missingPrimes() throws {
        let key = try PublicKey(pem: TestKeys.rsaPublic)
        for others in ["", #""p":"AQ","q":"Aw","#] {
            let jwk = Data(#"{"d":"AQAB",\#(others)\#(key.jwk.dropFirst())"#.utf8)
            let error = #expect(throws: KeyError.self) { try PrivateKey(jwk: jwk) }
            #expect(error?.code == .unsupportedKey)
            #expect("\(error as Any)".contains("prime"))
        }
    }
}
