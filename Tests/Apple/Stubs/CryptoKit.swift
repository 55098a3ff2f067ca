// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { fatalError() }
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public func finalize() -> SHA256Digest { fatalError() }
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
}
