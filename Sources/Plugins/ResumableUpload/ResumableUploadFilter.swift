public import Errand
import ErrandDigests
import ErrandEssentials
import ErrandTransfers

/// A filter that uploads the body of an ``UploadRequest``. Each attempt continues after the bytes that the server
/// already has.
///
/// ```swift
/// let options = UploadOptions(directory: directory)
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .system, filters: [.uploads(options)])
/// ```
///
/// Each ``UploadRequest`` brings this filter along. Add the filter to an agent if you want to set options for all
/// uploads, such as the directory for their records, or to choose the filter's position. If a call has several of these
/// filters, the outermost filter does the work.
///
/// Filters before this filter see a single call. Filters after this filter see each request of the upload.
///
/// The uploads and downloads in a process share half of the file descriptors that the process may open. Further
/// transfers wait. The filter throws `TransferError`, and the errors of the transport and of the filters after it. It
/// runs off the caller's actor. While it accesses the disk, it blocks a thread of the pool.
public struct ResumableUploadFilter: Filter {
    /// The options for requests that don't set their own.
    public var options: UploadOptions

    /// Creates a filter.
    public init(_ options: UploadOptions = UploadOptions()) { self.options = options }

    /// Returns ``FilterTraits/unique``.
    public var traits: FilterTraits { .unique }

    /// Returns a problem if an outer filter signs requests, because each request of an upload needs its own signature.
    public func orderProblem(after outer: any Filter) -> String? {
        outer.traits.contains(.signs) ? "every request reuses the first request's signature and timestamp" : nil
    }

    /// The filter's line in the output of `agent.explain`, with the protocol and the filter's options.
    public var explanation: String {
        let segments = options.maximumSegments > 1 ? " in \(options.maximumSegments) segments" : ""
        return "uploads\(segments) that resume after failures (\(options.uploadProtocol.rawValue))"
    }

    /// Uploads the body of an ``UploadRequest``. Passes requests of other types on unchanged.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // Checks the type before the cast, because a cast that fails is slow.
        guard type(of: exchange.request) is any UploadRequest.Type, let request = exchange.request as? any UploadRequest
        else {
            return try await next(exchange)
        }
        // Other retry filters must not repeat the request, because this filter has already repeated everything that can
        // be repeated.
        defer { exchange.markFailureAsFinal() }
        do {
            let order = try UploadOrder(request, exchange: exchange, options: request.uploadOptions ?? options)
            return try await DescriptorBudget.shared.withDescriptors(for: order.descriptors) {
                order.report(.queued(reason: "waiting for other transfers to close files: the process can't open more"))
                order.meter.set(.queued)
            } _: {
                var order = order
                while true {
                    do { return try await UploadRun(order, next).run() } catch is AnotherUser where !order.beginsAnew {
                        order = order.afterAnotherUser(within: exchange.userPin)
                    }
                }
            }
        } catch var error as TransferError {
            if error.request == nil { error.request = exchange.http }
            throw error
        }
    }
}

extension Filter where Self == ResumableUploadFilter {
    /// A filter with default options: `filters: [.uploads]`.
    public static var uploads: ResumableUploadFilter { ResumableUploadFilter() }

    /// Returns a filter with options for all uploads: `filters: [.uploads(UploadOptions(directory: folder))]`.
    public static func uploads(_ options: UploadOptions) -> ResumableUploadFilter { ResumableUploadFilter(options) }
}
