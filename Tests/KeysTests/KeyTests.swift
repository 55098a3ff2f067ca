import ErrandDigests
import ErrandEssentials
import ErrandHTTP
import Testing

@testable import ErrandKeys

@Suite("Keys", .endsInTime) struct KeyTests {
    private static let message = Data("a message".utf8)

    private static let keys: [(pem: String, algorithms: [KeyAlgorithm])] = [
        (TestKeys.ed25519Private, [.ed25519]), (TestKeys.p256Private, [.ecdsaP256SHA256]),
        (TestKeys.p384Private, [.ecdsaP384SHA384]), (TestKeys.rsaPSSPrivate, [.rsaPSSSHA512, .rsaPKCS1SHA256]),
        (TestKeys.rsaPrivate, [.rsaPSSSHA512, .rsaPKCS1SHA256]),
    ]

    @Test("a signature is only valid for its public key, message and algorithm") func roundTrip() throws {
        for (pem, algorithms) in Self.keys {
            let key = try PrivateKey(pem: pem)
            #expect(key.algorithms == algorithms)
            for algorithm in algorithms {
                let signature = try key.signature(of: Self.message, by: algorithm)
                let again = try PublicKey(pem: key.publicKey.pem)
                #expect(again == key.publicKey)
                #expect(try again.isValid(signature, of: Self.message, by: algorithm))
                #expect(try !again.isValid(signature, of: Self.message + [0], by: algorithm))
                for index in [0, signature.count / 2, signature.count - 1] {
                    var other = signature
                    other[index] ^= 1
                    #expect(try !again.isValid(other, of: Self.message, by: algorithm))
                }
                for wrong in [Data(), signature.dropLast(), signature + [0], Data(count: signature.count)] {
                    #expect(try !again.isValid(Data(wrong), of: Self.message, by: algorithm))
                }
                for other in algorithms where other != algorithm {
                    #expect(try !again.isValid(signature, of: Self.message, by: other))
                }
            }
        }
    }

    @Test("signatures have the sizes in the specifications") func sizes() throws {
        let sizes = try Self.keys.flatMap { pem, algorithms in
            let key = try PrivateKey(pem: pem)
            return try algorithms.map { try key.signature(of: Data(), by: $0).count }
        }
        #expect(sizes == [64, 64, 96, 256, 256, 256, 256])
    }

    @Test("ECDSA signatures have the same size for any r and s") func padding() throws {
        let key = try PrivateKey(pem: TestKeys.p256Private)
        for number in 0..<600 {
            let message = Data("\(number)".utf8)
            let signature = try key.signature(of: message, by: .ecdsaP256SHA256)
            #expect(signature.count == 64)
            #expect(try key.publicKey.isValid(signature, of: message, by: .ecdsaP256SHA256))
        }
        let small = [UInt8](repeating: 0, count: 63) + [1]
        let der = try #require(ECDSASignature.der(small, size: 32))
        #expect(ECDSASignature.raw(der, size: 32) == small)
    }

    @Test("PEM and JWK give the same key, and a written key can be read again") func formats() throws {
        let ed = try PrivateKey(pem: TestKeys.ed25519Private)
        #expect(try PrivateKey(jwk: Data(TestKeys.ed25519JWK.utf8)).publicKey == ed.publicKey)
        #expect(try PublicKey(pem: TestKeys.ed25519Public) == ed.publicKey)
        let p256 = try PrivateKey(pem: TestKeys.p256Private)
        #expect(try PrivateKey(jwk: Data(TestKeys.p256JWK.utf8)).publicKey == p256.publicKey)
        #expect(try PublicKey(pem: TestKeys.p256Public) == p256.publicKey)
        #expect(try PublicKey(pem: TestKeys.rsaPublic) == PrivateKey(pem: TestKeys.rsaPrivate).publicKey)
        for (pem, _) in Self.keys {
            let key = try PrivateKey(pem: pem)
            #expect(try PrivateKey(pem: key.pem).publicKey == key.publicKey)
            #expect(try PublicKey(jwk: Data(key.publicKey.jwk.utf8)) == key.publicKey)
            #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        }
        let block = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\r\n"
        #expect(try PrivateKey(pem: "text\r\n" + block + TestKeys.p256Private).publicKey == p256.publicKey)
    }

    @Test("HMAC and Ed25519 give the codes of RFC 4231 and RFC 8037") func knownAnswers() throws {
        let code = try HMACKey("Jefe".utf8).signature(of: Data("what do ya want for nothing?".utf8))
        #expect(
            code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            try HMACKey([]).signature(of: Data()).base64EncodedString()
                == "thNnmggU2ex3L5XXeMNfxf8Wl8STcVZTxscSFEKSxa0=")
        let jwk =
            #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","#
            + #""x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        let key = try PrivateKey(jwk: Data(jwk.utf8))
        let signed = try key.signature(
            of: Data("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8), by: .ed25519)
        let expected = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        #if canImport(CryptoKit)
        // CryptoKit adds randomness to Ed25519.
        let known = try #require(Base64URL.bytes(expected))
        #expect(
            try key.publicKey.isValid(
                Data(known), of: Data("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8), by: .ed25519))
        #expect(signed.count == 64)
        #else
        #expect(Base64URL.text(signed) == expected)
        #endif
    }

    @Test("thumbprints equal the thumbprints in RFC 7638 and RFC 8037") func thumbprints() throws {
        let rsa = """
            {"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc\
            _BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMi\
            cAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHa\
            Q-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}
            """
        #expect(try PublicKey(jwk: Data(rsa.utf8)).thumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        let ed = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        #expect(try PublicKey(jwk: Data(ed.utf8)).thumbprint() == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test("generated keys differ, sign, and survive being stored", arguments: [KeyType.ed25519, .p256])
    func generation(type: KeyType) throws {
        let (one, other) = (try PrivateKey.generate(type), try PrivateKey.generate(type))
        #expect(one.publicKey != other.publicKey)
        #expect(one.type == type)
        let signature = try PrivateKey(pem: one.pem).signature(of: Self.message, by: type.algorithms[0])
        #expect(try one.publicKey.isValid(signature, of: Self.message, by: type.algorithms[0]))
        #expect(try !other.publicKey.isValid(signature, of: Self.message, by: type.algorithms[0]))
        #expect(error(.unsupportedKey) { _ = try PrivateKey.generate(.rsa) })
    }

    private func error(_ code: KeyError.Code, _ body: () throws -> Void) -> Bool {
        do { try body() } catch let error as KeyError {
            return error.code == code
        } catch {}
        return false
    }

    @Test("other key types, unknown algorithms and unsupported keys are distinguished") func mismatches() throws {
        let ed = try PrivateKey(pem: TestKeys.ed25519Private)
        #expect(error(.keyMismatch) { _ = try ed.signature(of: Data(), by: .ecdsaP256SHA256) })
        #expect(error(.keyMismatch) { _ = try ed.publicKey.isValid(Data(), of: Data(), by: .hmacSHA256) })
        #expect(error(.keyMismatch) { _ = try HMACKey([1]).signature(of: Data(), by: .ed25519) })
        #expect(error(.unknownAlgorithm) { _ = try KeyAlgorithm(httpName: "Ed25519") })
        #expect(error(.unknownAlgorithm) { _ = try KeyAlgorithm(joseName: "none") })
        for algorithm in KeyAlgorithm.all {
            #expect(try KeyAlgorithm(httpName: algorithm.httpName) == algorithm)
            #expect(try KeyAlgorithm(joseName: algorithm.joseName) == algorithm)
        }
        #expect(error(.malformedKey) { _ = try PrivateKey(pem: TestKeys.ed25519Public) })
        #expect(error(.malformedKey) { _ = try PublicKey(pem: "") })
        let encrypted = TestKeys.ed25519Private.replacing("PRIVATE", with: "ENCRYPTED PRIVATE")
        #expect(error(.unsupportedKey) { _ = try PrivateKey(pem: encrypted) })
        let foreign = TestKeys.ed25519JWK.replacing("JrQLj5P", with: "JrQLj5Q")
        #expect(error(.malformedKey) { _ = try PrivateKey(jwk: Data(foreign.utf8)) })
        let offCurve = TestKeys.p256JWK.replacing("6F0\"", with: "6F1\"")
        #expect(error(.malformedKey) { _ = try PublicKey(jwk: Data(offCurve.utf8)) })
        let secp = TestKeys.p256JWK.replacing("P-256", with: "secp256k1")
        #expect(error(.unsupportedKey) { _ = try PublicKey(jwk: Data(secp.utf8)) })
        #expect(error(.unsupportedKey) { _ = try PublicKey(jwk: Data(#"{"kty":"RSA","n":"xw","e":"AQAB"}"#.utf8)) })
        #expect(error(.malformedKey) { _ = try PublicKey(jwk: Data("[]".utf8)) })
    }

    @Test("truncated or modified keys are refused or different, never accepted as the original") func fuzzing()
        throws
    {
        var random = SeededGenerator(seed: 9421)
        for (pem, algorithms) in Self.keys {
            let key = try PrivateKey(pem: pem)
            let lines = key.pem.split(separator: "\n")
            let der = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
            for count in stride(from: 0, to: der.count, by: max(1, der.count / 50)) {
                let text = PEM.text(Array(der.prefix(count)), label: "PRIVATE KEY")
                #expect(throws: KeyError.self) { try PrivateKey(pem: text) }
            }
            #expect(throws: KeyError.self) { try PrivateKey(pem: PEM.text(Array(der) + [0], label: "PRIVATE KEY")) }
            for _ in 0..<(der.count > 500 ? 40 : 300) {
                var changed = Array(der)
                changed[random.below(changed.count)] ^= UInt8(1 << random.below(8))
                guard let other = try? PrivateKey(pem: PEM.text(changed, label: "PRIVATE KEY")) else { continue }
                // A broken RSA key may be well-formed. It then signs nothing that its own public key accepts.
                let signature = try? other.signature(of: Self.message, by: algorithms[0])
                if let signature, other.publicKey == key.publicKey {
                    _ = try key.publicKey.isValid(signature, of: Self.message, by: algorithms[0])
                }
            }
        }
    }

    @Test("no description, dump or error shows a key") func secrecy() throws {
        let key = try PrivateKey(pem: TestKeys.ed25519Private)
        let shared = HMACKey("canary-of-the-shared-key".utf8)
        var texts = ["\(key)", "\(shared)", String(reflecting: key), String(reflecting: shared)]
        dump(key, to: &texts[0])
        dump(shared, to: &texts[1])
        dump([key.publicKey], to: &texts[2])
        do { _ = try PrivateKey(jwk: Data(#"{"kty":"OKP","crv":"Ed25519","x":"canary-x","d":"canary-d"}"#.utf8)) } catch
        {
            texts.append("\(error)")
            texts.append(error.errorDescription ?? "")
        }
        for text in texts {
            for secret in ["n4Ni", "canary", "MC4CAQ", "159, 131"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    @Test("no dump shows a part of a key", arguments: [KeyType.ed25519, .p256, .p384, .rsa])
    func secrecyOfParts(type: KeyType) throws {
        let key =
            switch type {
            case .p256: try PrivateKey(pem: TestKeys.p256Private)
            case .p384: try PrivateKey(pem: TestKeys.p384Private)
            case .rsa: try PrivateKey(pem: TestKeys.rsaPrivate)
            default: try PrivateKey(pem: TestKeys.ed25519Private)
            }
        var texts = ["\(key)", String(reflecting: key), "\([key])", "\(["key": key])"]
        for value in [key, [key], (1, key), Result<PrivateKey, any Error>.success(key)] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
            texts.append(String(reflecting: value))
        }
        let lines = key.pem.split(separator: "\n").dropFirst().dropLast().map { String($0.prefix(24)) }
        let bytes = try #require(Data(base64Encoded: key.pem.split(separator: "\n").dropFirst().dropLast().joined()))
        let numbers = bytes.suffix(6).map { "\($0)" }.joined(separator: ", ")
        for text in texts {
            #expect(!lines.contains(where: text.contains) && !text.contains(numbers), "\(text.prefix(200))")
        }
    }

    @Test("tasks can share a key") func concurrency() async throws {
        let key = try PrivateKey(pem: TestKeys.rsaPrivate)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let message = Data("\(number)".utf8)
                    return try key.publicKey.isValid(
                        key.signature(of: message, by: .rsaPSSSHA512), of: message, by: .rsaPSSSHA512)
                }
            }
            for try await isValid in group { #expect(isValid) }
        }
    }

    @Test("a digest in pieces equals the digest of the whole") func digests() throws {
        let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        for algorithm in [KeyDigest.Algorithm.sha256, .sha384, .sha512] {
            var digest = try KeyDigest(algorithm)
            for start in stride(from: 0, to: data.count, by: 777) {
                try digest.update(data[start..<min(start + 777, data.count)])
            }
            #expect(try digest.finalize() == KeyDigest.digest(of: data, algorithm))
        }
        #expect(
            try KeyDigest.digest(of: Data("abc".utf8), .sha384).base64EncodedString()
                == "ywB1P0WjXou1oD1pmsZQBycsMqsO3tFjGotgWkP/W+2AhgcroefMI1i67KE0yCWn")
    }
}
