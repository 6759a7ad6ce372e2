import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The page runs under `default-src 'none'`: nothing may be inlined, and every file has a name of its own.
export default defineConfig({
  plugins: [react(), tailwindcss()],
  // The router brings a copy of this hook for versions of React that have none.
  resolve: { alias: { 'use-sync-external-store/shim/index.js': 'react' } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // A link for each file costs as much time as the import itself: only for what is not fetched by then anyway.
      resolveDependencies: (file, needed, { hostType }) => (hostType === 'html' ? needed : needed.filter((one) => one !== file && !/(?:page|rolldown-runtime)-[^/]*$/.test(one))),
    },
    manifest: true,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      output: {
        // What several screens share lies in few files: each costs a way to the server and a place in the queue.
        codeSplitting: {
          groups: [
            { name: 'page', test: /node_modules\/(?:react|react-dom|scheduler|zustand|wouter|regexparam|mitt)\/|src\/state\/(?!push\.|ceremonies)|src\/ui\/(?!filters|gradually|json_view|key_help|menu)|src\/request\/changed|src\/model\/(?!answer|backtest|bulk|candidate|conversation|grant|likeness|lines|policy|typed)/ },
            { name: 'request', test: /src\/request\/(?!grant_panel|rare_panels|why|earlier|facts|verdict|timeline|technical|request_pane|text_diff|change_editor|code_panel|arguments_editor|plan_editor)|src\/model\/(?:answer|likeness)/ },
          ],
        },
      },
    },
  },
})
