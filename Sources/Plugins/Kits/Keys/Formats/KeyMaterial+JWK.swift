import ErrandDigests
import ErrandEssentials

/// RFC 7518, section 6; RFC 8037, section 2.
struct JWKMembers: Decodable {
    let kty: String
    let crv, x, y, d, n, e, p, q, dp, dq, qi: String?
    let oth: [Other]?

    struct Other: Decodable {}

    init(_ data: Data) throws(KeyError) {
        guard data.count <= 64 << 10 else { throw .malformed("the text is too long for a JWK") }
        // The decoder's error could quote the key.
        guard let members = try? JSONDecoder().decode(JWKMembers.self, from: data) else {
            throw .malformed("the text isn't a JWK")
        }
        self = members
    }

    func bytes(_ member: KeyPath<JWKMembers, String?>, _ name: String) throws(KeyError) -> [UInt8] {
        guard let text = self[keyPath: member] else { throw .malformed("the JWK has no \"\(name)\"") }
        guard let bytes = Base64URL.bytes(text), !bytes.isEmpty else {
            throw .malformed("\"\(name)\" isn't base64url")
        }
        return bytes
    }

    /// Many programs write a leading zero for the sign.
    func number(_ member: KeyPath<JWKMembers, String?>, _ name: String) throws(KeyError) -> [UInt8] {
        Array(try bytes(member, name).drop { $0 == 0 })
    }

    var curve: Curve? {
        switch crv {
        case "P-256": .p256
        case "P-384": .p384
        default: nil
        }
    }
}

extension PublicMaterial {
    init(_ members: JWKMembers) throws(KeyError) {
        switch (members.kty, members.crv, members.curve) {
        case ("OKP", "Ed25519", _):
            let key = try members.bytes(\.x, "x")
            guard key.count == 32 else { throw .malformed("expected a public key of 32 bytes, got \(key.count)") }
            self = .ed25519(key)
        case ("EC", _, let curve?):
            let (x, y) = (try members.number(\.x, "x"), try members.number(\.y, "y"))
            self = .ec(curve, point: try [4] + curve.padded(x) + curve.padded(y))
        case ("RSA", _, _):
            let (modulus, exponent) = (try members.number(\.n, "n"), try members.number(\.e, "e"))
            try RSANumbers.check(modulus: modulus, exponent: exponent)
            self = .rsa(modulus: modulus, exponent: exponent)
        default: throw KeyError(.unsupportedKey, "expected a JWK for Ed25519, P-256, P-384 or RSA, found another type")
        }
    }

    /// Only the required members, in the order of RFC 7638, section 3.
    var jwk: String {
        switch self {
        case .ed25519(let key): #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.text(key))"}"#
        case .ec(let curve, let point):
            #"{"crv":"\#(curve.type)","kty":"EC","x":"\#(Base64URL.text(point[1...curve.size]))","#
                + #""y":"\#(Base64URL.text(point[(1 + curve.size)...]))"}"#
        case .rsa(let modulus, let exponent):
            #"{"e":"\#(Base64URL.text(exponent))","kty":"RSA","n":"\#(Base64URL.text(modulus))"}"#
        }
    }
}

extension PrivateMaterial {
    init(_ members: JWKMembers) throws(KeyError) {
        let publicPart = try PublicMaterial(members)
        let secret = try members.bytes(\.d, "d")
        switch publicPart {
        case .ed25519(let key):
            guard secret.count == 32 else {
                throw .malformed("expected a private key of 32 bytes, got \(secret.count)")
            }
            self = .ed25519(seed: secret, publicKey: key)
        case .ec(let curve, let point): self = .ec(curve, scalar: try curve.checked(scalar: secret), point: point)
        case .rsa(let modulus, let exponent):
            guard members.oth == nil else {
                throw KeyError(.unsupportedKey, "RSA keys with more than two primes aren't supported")
            }
            guard ![members.p, members.q, members.dp, members.dq, members.qi].contains(nil) else {
                throw KeyError(
                    .unsupportedKey, "the JWK lacks primes of the RSA key, or the numbers that follow from them")
            }
            self = .rsa(
                try RSANumbers([
                    modulus, exponent, members.number(\.d, "d"), members.number(\.p, "p"), members.number(\.q, "q"),
                    members.number(\.dp, "dp"), members.number(\.dq, "dq"), members.number(\.qi, "qi"),
                ]))
        }
    }
}
