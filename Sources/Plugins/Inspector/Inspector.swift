// Start here: add a ``TrafficInspector`` to an agent's accessories, and call
// ``TrafficInspector/start(port:inReleaseBuilds:announce:)``.
//
// Capture/  the events of activities, in memory     ActivityStore, ActivityRecord
// Export/   copies for other programs               a curl command, a test
// Masking/  activities without their secrets        MaskedActivity
// Page/     the page, and the data that it receives
// Server/   HTTP/1.1 on the loopback interface
// Tools/    delays, failures and stubs              ToolFilter
