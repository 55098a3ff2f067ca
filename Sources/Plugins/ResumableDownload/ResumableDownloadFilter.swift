public import Errand
import ErrandEssentials
import ErrandTransfers

/// Downloads the file of a ``DownloadRequest``, in as many attempts and segments as necessary.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .curl)
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// Each ``DownloadRequest`` brings this filter along. Add it to an agent to set options for all downloads, or to choose
/// its position. If a call has several of these filters, the outermost does the work.
///
/// Filters before it see one call. Filters after it see each attempt and each segment. It requests the server's digest,
/// and bytes without a content coding (`Accept-Encoding: identity`).
///
/// A process' downloads share half of the file descriptors that it may open. Further downloads wait. The filter throws
/// `TransferError`, and errors of the transport and the filters after it. It runs off the caller's actor, and blocks a
/// thread of the pool while it accesses the disk.
public struct ResumableDownloadFilter: Filter {
    /// The options for requests that don't set their own.
    public var options: DownloadOptions

    /// Creates a filter.
    public init(_ options: DownloadOptions = DownloadOptions()) { self.options = options }

    /// ``FilterTraits/unique``.
    public var traits: FilterTraits { .unique }

    /// Returns a problem if an outer filter signs requests, because each attempt and each segment needs its own
    /// signature.
    public func orderProblem(after outer: any Filter) -> String? {
        outer.traits.contains(.signs) ? "every attempt reuses the first attempt's signature and timestamp" : nil
    }

    /// The filter's line in `agent.explain`, with its options.
    public var explanation: String {
        let segments = options.maximumSegments > 1 ? " in \(options.maximumSegments) segments" : ""
        return "downloads to a file\(segments), resumed after failures"
    }

    /// Downloads the file of a ``DownloadRequest``. Passes on other requests unchanged.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // A failing cast is slow, so check the type first.
        guard type(of: exchange.request) is any DownloadRequest.Type,
            let request = exchange.request as? any DownloadRequest
        else {
            return try await next(exchange)
        }
        // This filter has already repeated all that can be repeated.
        defer { exchange.markFailureAsFinal() }
        do {
            let order = try DownloadOrder(request, exchange, request.downloadOptions ?? options)
            return try await DescriptorBudget.shared.withDescriptors(for: 2 + order.segments) {
                order.report(
                    .queued(reason: "waiting for other downloads to close files: the process can't open more"), .queued)
            } _: {
                let run = DownloadRun(order, try await order.open(), next)
                return try await run.run()
            }
        } catch var error as TransferError {
            if error.request == nil { error.request = exchange.http }
            throw error
        }
    }
}

extension Filter where Self == ResumableDownloadFilter {
    /// Uses default options: `filters: [.downloads]`.
    public static var downloads: ResumableDownloadFilter { ResumableDownloadFilter() }

    /// Sets options for all downloads: `filters: [.downloads(DownloadOptions(maximumSegments: 4))]`.
    public static func downloads(_ options: DownloadOptions) -> ResumableDownloadFilter {
        ResumableDownloadFilter(options)
    }
}
