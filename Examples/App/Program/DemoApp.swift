import ErrandAppViews
import SwiftUI

#if os(macOS)
import AppKit
#endif

/// `swift run errand-app`, on a Mac: one screen for each thing that people come for, above a server in the same process.
@main struct DemoApp: App {
    init() {
        #if os(macOS)
        // Without a bundle, as `swift run` starts it, a program has neither a place in the Dock nor the keyboard.
        NSApplication.shared.setActivationPolicy(.regular)
        Task { NSApplication.shared.activate() }
        #endif
    }

    var body: some Scene {
        WindowGroup("Errand") { AppScreen() }
    }
}
