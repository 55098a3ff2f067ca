#if canImport(Darwin)
import Errand
import ErrandSystemTransport
import Foundation

/// Creates the transport from the command line's options. The system's proxy and trust settings apply.
enum ToolTransport {
    static func make(_ arguments: DownloadArguments) throws(DownloadArguments.Mistake) -> any Transport {
        let isGiven: [(Bool, OptionName)] = [
            (arguments.caFile != nil, .cacert), (arguments.proxy != nil, .proxy),
            (!arguments.noProxy.isEmpty, .noProxy),
            (arguments.family == 4, .ipv4), (arguments.family == 6, .ipv6),
        ]
        if let option = isGiven.first(where: { $0.0 })?.1 {
            throw .init(message: "\(option.long) is not available here; the system's settings apply")
        }
        return .system
    }
}
#endif
