extension PublicMaterial {
    init?(label: String, der: [UInt8]) throws(KeyError) {
        switch label {
        case "PUBLIC KEY": try self.init(subjectInfo: der)
        case "RSA PUBLIC KEY": try self.init(pkcs1: der)
        default: return nil
        }
    }

    /// RFC 5280, section 4.1.2.7.
    init(subjectInfo der: [UInt8]) throws(KeyError) {
        var outer = DERReader(der)
        var info = try outer.sequence()
        try outer.end()
        let algorithm = try AlgorithmID(&info)
        let key = try info.bits()
        try info.end()
        switch algorithm {
        case .ed25519:
            guard key.count == 32 else { throw .malformed("expected a public key of 32 bytes, got \(key.count)") }
            self = .ed25519(key)
        case .ec(let curve): self = .ec(curve, point: try curve.checked(point: key))
        case .rsa: try self.init(pkcs1: key)
        }
    }

    init(pkcs1 der: [UInt8]) throws(KeyError) {
        var outer = DERReader(der)
        var numbers = try outer.sequence()
        try outer.end()
        let (modulus, exponent) = (try numbers.integer(), try numbers.integer())
        try numbers.end()
        try RSANumbers.check(modulus: modulus, exponent: exponent)
        self = .rsa(modulus: modulus, exponent: exponent)
    }

    var subjectInfo: [UInt8] {
        switch self {
        case .ed25519(let key): DER.sequence(AlgorithmID.ed25519.der, DER.bits(key))
        case .ec(let curve, let point): DER.sequence(AlgorithmID.ec(curve).der, DER.bits(point))
        case .rsa: DER.sequence(AlgorithmID.rsa.der, DER.bits(pkcs1))
        }
    }

    var pkcs1: [UInt8] {
        guard case .rsa(let modulus, let exponent) = self else { return [] }
        return DER.sequence(DER.integer(modulus), DER.integer(exponent))
    }
}

extension PrivateMaterial {
    init?(label: String, der: [UInt8]) throws(KeyError) {
        switch label {
        case "PRIVATE KEY": try self.init(pkcs8: der)
        case "EC PRIVATE KEY": try self.init(sec1: der, nil)
        case "RSA PRIVATE KEY": try self.init(pkcs1: der)
        default: return nil
        }
    }

    /// Reads a OneAsymmetricKey (RFC 5958). Ignores its attributes.
    init(pkcs8 der: [UInt8]) throws(KeyError) {
        var outer = DERReader(der)
        var info = try outer.sequence()
        try outer.end()
        let version = try info.integer()
        guard version.isEmpty || version == [1] else { throw .malformed("the key's format has an unknown version") }
        let algorithm = try AlgorithmID(&info)
        let key = Array(try info.value(DER.Tag.octetString))
        switch algorithm {
        case .ed25519:
            var inner = DERReader(key)
            let seed = Array(try inner.value(DER.Tag.octetString))
            try inner.end()
            guard seed.count == 32 else { throw .malformed("expected a private key of 32 bytes, got \(seed.count)") }
            self = .ed25519(seed: seed, publicKey: try Self.publicPart(&info))
        case .ec(let curve): try self.init(sec1: key, curve)
        case .rsa: try self.init(pkcs1: key)
        }
    }

    /// Reads the public key after the attributes, if there's one. Some programs tag it twice.
    private static func publicPart(_ info: inout DERReader) throws(KeyError) -> [UInt8]? {
        if info.next == DER.Tag.context(0) { _ = try info.value(DER.Tag.context(0)) }
        if info.next == DER.Tag.context(1) {
            var wrapped = DERReader(try info.value(DER.Tag.context(1)))
            return try wrapped.bits()
        }
        return info.next == DER.Tag.implicitBits ? try info.bits(DER.Tag.implicitBits) : nil
    }

    /// Reads an ECPrivateKey (RFC 5915). If another structure contains it, that structure can specify the curve.
    init(sec1 der: [UInt8], _ outerCurve: Curve?) throws(KeyError) {
        var outer = DERReader(der)
        var key = try outer.sequence()
        try outer.end()
        guard try key.integer() == [1] else { throw .malformed("the key's format has an unknown version") }
        let scalar = try key.value(DER.Tag.octetString)
        var curve = outerCurve
        if key.next == DER.Tag.context(0) {
            var parameters = DERReader(try key.value(DER.Tag.context(0)))
            let named = try Curve(id: parameters.value(DER.Tag.objectID))
            guard curve == nil || curve == named else { throw .malformed("the key names two curves") }
            curve = named
        }
        guard let curve else { throw .malformed("the key doesn't name its curve") }
        var point: [UInt8]?
        if key.next == DER.Tag.context(1) {
            var wrapped = DERReader(try key.value(DER.Tag.context(1)))
            let bits = try wrapped.bits()
            // The scalar determines the point, so a compressed point isn't needed.
            point = Curve.isCompressed(bits) ? nil : try curve.checked(point: bits)
        }
        try key.end()
        self = .ec(curve, scalar: try curve.checked(scalar: scalar), point: point)
    }

    init(pkcs1 der: [UInt8]) throws(KeyError) {
        var outer = DERReader(der)
        var key = try outer.sequence()
        try outer.end()
        guard try key.integer().isEmpty else {
            throw KeyError(.unsupportedKey, "RSA keys with more than two primes aren't supported")
        }
        var numbers: [[UInt8]] = []
        for _ in 0..<8 { numbers.append(try key.integer()) }
        try key.end()
        self = .rsa(try RSANumbers(numbers))
    }

    var pkcs8: [UInt8] {
        let version = DER.integer([])
        return switch self {
        case .ed25519(let seed, _):
            DER.sequence(version, AlgorithmID.ed25519.der, DER.octets(DER.octets(seed)))
        case .ec(let curve, let scalar, let point):
            DER.sequence(version, AlgorithmID.ec(curve).der, DER.octets(Self.sec1(scalar, point)))
        case .rsa(let numbers):
            DER.sequence(version, AlgorithmID.rsa.der, DER.octets(numbers.pkcs1))
        }
    }

    private static func sec1(_ scalar: [UInt8], _ point: [UInt8]?) -> [UInt8] {
        let end = point.map { DER.value(DER.Tag.context(1), DER.bits($0)) } ?? []
        return DER.sequence(DER.integer([1]), DER.octets(scalar), end)
    }
}

private enum AlgorithmID {
    case ed25519, rsa
    case ec(Curve)

    init(_ reader: inout DERReader) throws(KeyError) {
        var id = try reader.sequence()
        switch Array(try id.value(DER.Tag.objectID)) {
        case ObjectID.ed25519: self = .ed25519
        case ObjectID.ec:
            guard id.next == DER.Tag.objectID else {
                throw KeyError(.unsupportedKey, "the curve is given by its parameters instead of its name")
            }
            self = .ec(try Curve(id: id.value(DER.Tag.objectID)))
        // The parameters of PSS could only restrict the key.
        case ObjectID.rsa, ObjectID.rsaPSS: self = .rsa
        default: throw KeyError(.unsupportedKey, "expected an Ed25519, EC or RSA key, found another type")
        }
    }

    var der: [UInt8] {
        switch self {
        case .ed25519: DER.sequence(ObjectID.written(ObjectID.ed25519))
        case .ec(let curve): DER.sequence(ObjectID.written(ObjectID.ec), ObjectID.written(curve.id))
        case .rsa: DER.sequence(ObjectID.written(ObjectID.rsa), DER.null)
        }
    }
}
