enum PublicMaterial: Sendable, Hashable {
    case ed25519([UInt8])
    /// The uncompressed point: 4, x, y.
    case ec(Curve, point: [UInt8])
    case rsa(modulus: [UInt8], exponent: [UInt8])

    var type: KeyType {
        switch self {
        case .ed25519: .ed25519
        case .ec(let curve, _): curve.type
        case .rsa: .rsa
        }
    }
}

enum PrivateMaterial: Sendable {
    case ed25519(seed: [UInt8], publicKey: [UInt8]?)
    case ec(Curve, scalar: [UInt8], point: [UInt8]?)
    case rsa(RSANumbers)

    var type: KeyType {
        switch self {
        case .ed25519: .ed25519
        case .ec(let curve, _, _): curve.type
        case .rsa: .rsa
        }
    }

    var publicPart: PublicMaterial? {
        switch self {
        case .ed25519(_, let key): key.map { .ed25519($0) }
        case .ec(let curve, _, let point): point.map { .ec(curve, point: $0) }
        case .rsa(let numbers): .rsa(modulus: numbers.modulus, exponent: numbers.exponent)
        }
    }
}

enum Curve: Sendable, Hashable {
    case p256, p384

    var type: KeyType { self == .p256 ? .p256 : .p384 }
    var size: Int { self == .p256 ? 32 : 48 }
    var id: [UInt8] { self == .p256 ? ObjectID.p256 : ObjectID.p384 }

    init(id: some Sequence<UInt8>) throws(KeyError) {
        switch Array(id) {
        case ObjectID.p256: self = .p256
        case ObjectID.p384: self = .p384
        default: throw KeyError(.unsupportedKey, "expected the curve P-256 or P-384, found another curve")
        }
    }

    static func isCompressed(_ point: [UInt8]) -> Bool { point.first == 2 || point.first == 3 }

    func checked(point: [UInt8]) throws(KeyError) -> [UInt8] {
        guard point.first == 4 else {
            throw KeyError(.unsupportedKey, "the point of the public key is compressed")
        }
        guard point.count == 1 + 2 * size else {
            throw .malformed("expected a public key point of \(1 + 2 * size) bytes, got \(point.count)")
        }
        return point
    }

    func padded(_ coordinate: [UInt8]) throws(KeyError) -> [UInt8] {
        guard coordinate.count <= size else {
            throw .malformed("expected coordinates of \(size) bytes, got \(coordinate.count)")
        }
        return [UInt8](repeating: 0, count: size - coordinate.count) + coordinate
    }

    /// Some programs leave out a scalar's leading zeros, and others write one more.
    func checked(scalar: some Sequence<UInt8>) throws(KeyError) -> [UInt8] {
        let bytes = Array(scalar)
        let digits = bytes.drop { $0 == 0 }
        guard !digits.isEmpty, digits.count <= size else {
            throw .malformed("expected a private key of \(size) bytes, got \(bytes.count)")
        }
        return [UInt8](repeating: 0, count: size - digits.count) + digits
    }
}

/// The eight numbers of an RSA key with two primes (RFC 8017, appendix A.1.2).
struct RSANumbers: Sendable {
    /// n, e, d, p, q, dP, dQ, and qInv.
    let all: [[UInt8]]

    var modulus: [UInt8] { all[0] }
    var exponent: [UInt8] { all[1] }

    init(_ all: [[UInt8]]) throws(KeyError) {
        guard all.count == 8, all.allSatisfy({ !$0.isEmpty && $0.count <= all[0].count }) else {
            throw .malformed("the RSA key's numbers contradict each other")
        }
        try Self.check(modulus: all[0], exponent: all[1])
        self.all = all
    }

    /// Bounds the work of an operation, and rejects keys that are known to be weak.
    static func check(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) {
        let bits = 8 * modulus.count - (modulus.first?.leadingZeroBitCount ?? 0)
        guard (2048...8192).contains(bits) else {
            throw KeyError(.unsupportedKey, "expected an RSA key of 2048 to 8192 bits, got \(bits)")
        }
        guard let last = exponent.last, last & 1 == 1, exponent != [1], exponent.count <= 8,
            let end = modulus.last, end & 1 == 1
        else { throw .malformed("the RSA key's modulus or exponent isn't a valid odd number") }
    }

    var pkcs1: [UInt8] { DER.value(DER.Tag.sequence, DER.integer([]) + all.flatMap { DER.integer($0) }) }
}
