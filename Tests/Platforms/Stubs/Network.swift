// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Network.framework, as far as Errand uses it, with the SDK's annotations.
@_exported public import Foundation
@_exported public import Security

public enum NWError: Error, Equatable, CustomDebugStringConvertible, Sendable {
    case posix(POSIXErrorCode)
    case dns(DNSServiceErrorType)
    case tls(OSStatus)
    case wifiAware(Int32)
    public var debugDescription: String { fatalError() }
}
/// dnssd declares this.
public typealias DNSServiceErrorType = Int32

public enum NWEndpoint: Hashable, Sendable {
    public enum Host: Hashable, Sendable {
        case name(String, NWInterface?)
        public init(_ string: String) { fatalError() }
    }
    public struct Port: Hashable, Sendable {
        public init?(_ service: String) { fatalError() }
    }
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)
}

public struct NWInterface: Hashable, Sendable {
    public enum InterfaceType: Hashable, Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}

public struct NWPath: Hashable, Sendable {
    public enum Status: Hashable, Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: NWPath.Status { fatalError() }
}

open class NWProtocolOptions: @unchecked Sendable {}
public enum NWProtocolTCP {
    public class Options: NWProtocolOptions, @unchecked Sendable {
        public var noDelay: Bool {
            get { fatalError() }
            set { fatalError() }
        }
        public override init() { fatalError() }
    }
}
public enum NWProtocolTLS {
    public class Options: NWProtocolOptions, @unchecked Sendable {
        public var securityProtocolOptions: sec_protocol_options_t { fatalError() }
        public override init() { fatalError() }
    }
}

public struct ProxyConfiguration: Hashable, Sendable {}
extension URLSessionConfiguration {
    public var proxyConfigurations: [ProxyConfiguration] {
        get { fatalError() }
        set { fatalError() }
    }
}

public final class NWParameters: @unchecked Sendable {
    public class PrivacyContext: @unchecked Sendable {
        public init(description: String) { fatalError() }
        public var proxyConfigurations: [ProxyConfiguration] {
            get { fatalError() }
            set { fatalError() }
        }
    }
    public convenience init(
        tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()
    ) { fatalError() }
    init() { fatalError() }
    public final var prohibitedInterfaceTypes: [NWInterface.InterfaceType]? {
        get { fatalError() }
        set { fatalError() }
    }
    public final var prohibitExpensivePaths: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    public final var prohibitConstrainedPaths: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    public final func setPrivacyContext(_ privacyContext: NWParameters.PrivacyContext) { fatalError() }
}

public final class NWConnection: CustomDebugStringConvertible, @unchecked Sendable {
    public enum State: Equatable, Sendable {
        case setup
        case waiting(NWError)
        case preparing, ready
        case failed(NWError)
        case cancelled
    }
    public class ContentContext: @unchecked Sendable {
        public static let defaultMessage = ContentContext()
    }
    public enum SendCompletion {
        @preconcurrency case contentProcessed(@Sendable (_ error: NWError?) -> Void)
        case idempotent
    }
    public init(to: NWEndpoint, using: NWParameters) { fatalError() }
    @preconcurrency public final var stateUpdateHandler: (@Sendable (_ state: NWConnection.State) -> Void)? {
        get { fatalError() }
        set { fatalError() }
    }
    public final var currentPath: NWPath? { fatalError() }
    public final func start(queue: DispatchQueue) { fatalError() }
    @preconcurrency public final func send(
        content: Data?, contentContext: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: NWConnection.SendCompletion
    ) { fatalError() }
    @preconcurrency public final func receive(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion:
            @escaping @Sendable (
                _ content: Data?, _ contentContext: NWConnection.ContentContext?, _ isComplete: Bool, _ error: NWError?
            ) -> Void
    ) { fatalError() }
    public final func cancel() { fatalError() }
    public var debugDescription: String { fatalError() }
}
