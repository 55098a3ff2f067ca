// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct OSLogPrivacy: Sendable {
    public static var `public`: OSLogPrivacy { fatalError() }
    public static var `private`: OSLogPrivacy { fatalError() }
}

public struct OSLogStringAlignment: Sendable {
    public static var none: OSLogStringAlignment { fatalError() }
}

public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) { fatalError() }
    public mutating func appendLiteral(_ literal: String) { fatalError() }
    public mutating func appendInterpolation(
        _ argument: @autoclosure @escaping () -> String, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .private
    ) { fatalError() }
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) { fatalError() }
    public init(stringLiteral value: String) { fatalError() }
}

public struct Logger: @unchecked Sendable {
    public init() {}
    public init(subsystem: String, category: String) { fatalError() }
    public func info(_ message: OSLogMessage) { fatalError() }
    public func error(_ message: OSLogMessage) { fatalError() }
}
